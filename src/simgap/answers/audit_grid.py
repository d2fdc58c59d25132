"""A class on a grid stands for a simulator, and is not it.

What is computed is certified for the tables: "certified for this grid". The grid is too
coarse for a verdict if a step of the table is moved more by rounding than by the
simulator, along some axis: root mean squares over all nodes, actions and models.
"""

from __future__ import annotations

from simgap.answers.audit_words import Words
from simgap.answers.finding import Finding, Status, percent
from simgap.answers.verdict import Verdict
from simgap.mdp import SimulatorClass
from simgap.mdp.grid_origin import TOO_COARSE, GridOrigin

MUCH = 0.5  # of the motion of a step: more noise than this is worth a warning


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
        else ". With more cells there is less of it; --refine sees whether the answer "
        "stays"
    )
    if origin.samples > 1:
        text += f". {origin.words}"
    return (
        Finding("grid", Status.WARNING if most > MUCH else Status.INFO, text, most),
    )


def on_this_grid(
    verdict: Verdict, words: Words, simulators: SimulatorClass
) -> tuple[Verdict, Words]:
    """Return the verdict about the simulator, given that about its table."""
    origin = simulators.grid
    if origin is None or not origin.too_coarse:
        about = "All this is about the table on the grid, not the simulator behind it."
        if simulators.on_grid is not None:
            words = Words(words.headline, f"{words.reason} {about}")
        return verdict, words
    headline = (
        "Undecided: grid too coarse. Rounding a step to the grid moves it by "
        f"{_told(origin)} of the simulator's own motion."
    )
    reason = (
        f"The table says: {words.headline} That is certified for this grid, and says "
        "little about the simulator. More cells, or --refine, may decide."
    )
    return Verdict.GRID_TOO_COARSE, Words(headline, reason)


def _told(origin: GridOrigin) -> str:
    return ", ".join(f"{percent(part)} ({name})" for name, part in origin.noise.items())
