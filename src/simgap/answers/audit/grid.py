"""A class on a grid stands for a simulator, and is not it.

What is computed is certified for the tables: "certified for this grid". The grid is too
coarse for a verdict if a step of the table is moved more by rounding than by the
simulator, along some axis: root mean squares over all nodes, actions and models.
It is too coarse as well if a policy earns another return in the simulator than in the
table, by more than the loss that is acceptable: intervals are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.answers.audit.finding import Finding, Status, percent, told
from simgap.answers.audit.losses import Transfer
from simgap.answers.audit.verdict import Verdict
from simgap.answers.audit.words import Words
from simgap.mdp import TOO_COARSE, GridOrigin, SimulatorClass
from simgap.simulation import InSimulator
from simgap.text import at_least, at_most, ends

MUCH = 0.5  # of the motion of a step: more noise than this is worth a warning
COARSE = "grid-too-coarse"  # codes of why nothing is decided
DISAGREES = "simulator-disagrees"
MOVES = "answer-moves"


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict in words; `code` says why a grid leaves it open."""

    verdict: Verdict
    words: Words
    code: str | None


def grid_findings(simulators: SimulatorClass) -> tuple[Finding, ...]:
    """Return how much noise the grid adds, if the class is on a grid."""
    origin = simulators.grid
    if origin is None:
        return ()
    most = max(origin.noise.values())
    text = (
        "answers are about the table on the grid, not the simulator: the grid adds "
        f"noise of {_told(origin)} of the motion of a step"
    )
    text += (
        f". That is more than {percent(TOO_COARSE)}: too coarse for a verdict"
        if origin.too_coarse
        else ". With more cells there is less of it; where the simulator is at hand, "
        "--refine sees whether the answer stays"
    )
    if origin.samples > 1:
        text += f". {origin.words}"
    return (
        Finding("grid", Status.WARNING if most > MUCH else Status.INFO, text, most),
    )


def on_this_grid(
    verdict: Verdict,
    words: Words,
    simulators: SimulatorClass,
    lost: Transfer | None,
    acceptable: float,
) -> Judged:
    """Return the verdict about the simulator, given that about its table."""
    origin = simulators.grid
    other = None if lost is None else disagreement(lost, acceptable)
    if other is not None:
        return undecided(_disagree(other), words, DISAGREES)
    if origin is not None and origin.too_coarse:
        headline = (
            "Undecided: grid too coarse. Rounding a step to the grid moves it by "
            f"{_told(origin)} of the simulator's own motion."
        )
        return undecided(headline, words, COARSE)
    if simulators.on_grid is not None:
        about = f"All this is about a table ({simulators.on_grid}), not the simulator."
        words = Words(words.headline, f"{words.reason} {about}")
    return Judged(verdict, words, None)


def undecided(headline: str, words: Words, code: str) -> Judged:
    """Return a verdict that a grid leaves open; `words` are those about its table."""
    reason = (
        f"The table says: {words.headline} That is certified for this grid, and says "
        "little about the simulator. A finer grid may decide."
    )
    return Judged(Verdict.GRID_TOO_COARSE, Words(headline, reason), code)


def disagreement(lost: Transfer, acceptable: float) -> InSimulator | None:
    """Return the policy about which table and simulator disagree most, if they do.

    They do if their intervals are further apart than the loss that is acceptable.
    """
    if lost.stakes is None or not lost.in_simulator:
        return None
    most = max(lost.in_simulator, key=InSimulator.apart)
    return most if most.apart() > acceptable * lost.stakes.average.ends[1] else None


def _disagree(other: InSimulator) -> str:
    low, high = other.ends_of_table
    held = " to ".join(ends(low, high, 3))
    return (
        f"Undecided: table and simulator disagree. The policy ({other.policy}) earns "
        f"{held} in the table, and in the simulator itself "
        f"{told(other.simulator.estimate)}, between "
        f"{at_least(other.simulator.lower, 3)} and {at_most(other.simulator.upper, 3)} "
        f"at {percent(other.simulator.confidence)}."
    )


def _told(origin: GridOrigin) -> str:
    return ", ".join(f"{percent(part)} ({name})" for name, part in origin.noise.items())
