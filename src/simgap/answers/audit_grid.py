"""A class on a grid stands for a simulator, and is not it.

What is computed is certified for the tables. How far these are from the simulator is
told in the class's notes: each step is rounded to nodes at random, which is noise that
the simulator does not have.
"""

from __future__ import annotations

import re

from simgap.answers.finding import Finding, Status, percent
from simgap.mdp import SimulatorClass
from simgap.mdp.discretise import GRID_NOISE

MUCH = 0.5  # of the motion of a step: more noise than this hides the motion
_AXIS = re.compile(r"(\S+) (\S+) \(motion (\S+?)\)")


def grid_findings(simulators: SimulatorClass) -> tuple[Finding, ...]:
    """Return how much noise the grid adds, if the class is on a grid."""
    note = next((each for each in simulators.notes if each.startswith(GRID_NOISE)), "")
    parts = {
        name: float(noise) / float(motion)
        for name, noise, motion in _AXIS.findall(note)
        if float(motion) > 0.0
    }
    if not parts:
        return ()
    most = max(parts.values())
    told = ", ".join(f"{percent(part)} ({name})" for name, part in parts.items())
    text = (
        "certified for the table on the grid, not for the simulator: the grid adds "
        f"noise of {told} of the motion of a step. With more cells there is less of "
        "it; see whether the answer stays"
    )
    return (
        Finding("grid", Status.WARNING if most > MUCH else Status.INFO, text, most),
    )
