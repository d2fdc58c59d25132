"""A class on a grid stands for a simulator, and is not it.

What is computed is certified for the tables: "certified for this grid". The grid is too
coarse for a verdict if a step of the table is moved more by rounding than by the
simulator, along some axis: root mean squares over all nodes, actions and models.
It is too coarse as well if a policy earns another return in the simulator than in the
table, by more than the loss that is acceptable: intervals are compared.
"""

from __future__ import annotations

from dataclasses import replace

from simgap.answers.audit.losses import Losses
from simgap.answers.audit.verdict import Judgement
from simgap.mdp import TOO_COARSE, GridOrigin, SimulatorClass
from simgap.records.audit import Finding, InSimulator, OpenOnGrid
from simgap.text import at_least, at_most, ends, number, percent

MUCH = 0.5  # of the motion of a step: more noise than this is worth a warning


def grid_findings(simulators: SimulatorClass) -> tuple[Finding, ...]:
    """Return how much noise the grid adds, if the class is on a grid."""
    origin = simulators.grid
    if origin is None:
        return ()
    most = max(origin.noise.values())
    text = (
        "answers are about the table on the grid, not the simulator: the grid adds "
        f"noise of {_noise(origin)} of the motion of a step"
    )
    text += (
        f". That is more than {percent(TOO_COARSE)}: too coarse for a verdict"
        if origin.too_coarse
        else ". More cells make it smaller"
    )
    if origin.samples > 1:
        text += f". {origin.words}"
    if origin.too_coarse:
        return (Finding("grid", "grid-too-coarse", "warning", text, most),)
    if most > MUCH:
        return (Finding("grid", "grid-noisy", "warning", text, most),)
    return (Finding("grid", "on-grid", "info", text, most),)


def on_this_grid(
    table: Judgement, simulators: SimulatorClass, lost: Losses, acceptable: float
) -> Judgement:
    """Return the judgement of the simulator, given that of its table."""
    origin, other = simulators.grid, _disagreement(lost, acceptable)
    if other is not None:
        return _left_open(table, _disagree(other), "simulator-disagrees")
    if origin is not None and origin.too_coarse:
        headline = (
            "Undecided: grid too coarse. Rounding a step to the grid moves it by "
            f"{_noise(origin)} of the simulator's own motion."
        )
        return _left_open(table, headline, "grid-too-coarse")
    if simulators.on_grid is not None:
        about = f"All this is about a table ({simulators.on_grid}), not the simulator."
        return replace(table, reason=f"{table.reason} {about}")
    return table


def _left_open(table: Judgement, headline: str, code: OpenOnGrid) -> Judgement:
    reason = (
        f"The table says: {table.headline} That is certified for this grid, and says "
        "little about the simulator. More cells may decide."
    )
    return Judgement("undecided: grid too coarse", headline, reason, code)


def _disagreement(lost: Losses, acceptable: float) -> InSimulator | None:
    """Return the policy about which table and simulator disagree most, if they do.

    They do if their intervals are further apart than the loss that is acceptable.
    """
    if lost.stakes is None or not lost.in_simulator:
        return None
    most = max(lost.in_simulator, key=InSimulator.apart)
    return most if most.apart() > acceptable * lost.stakes.average.ends[1] else None


def _disagree(other: InSimulator) -> str:
    return (
        f"Undecided: table and simulator disagree. The policy ({other.policy}) earns "
        f"{' to '.join(ends(*other.table.ends, 3))} in the table, and in the simulator "
        f"itself {number(other.simulator.estimate, 3)}, between "
        f"{at_least(other.simulator.lower, 3)} and {at_most(other.simulator.upper, 3)} "
        f"at {percent(other.simulator.confidence)}."
    )


def _noise(origin: GridOrigin) -> str:
    return ", ".join(f"{percent(part)} ({name})" for name, part in origin.noise.items())
