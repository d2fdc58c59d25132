"""The certified optimum of a grid at each point, beside what was measured there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from simgap.answers.planned_class import Tell
from simgap.continuous import GridPolicy, Work
from simgap.intervals import Certified
from simgap.records import Certainty, Note, Transfer, TransferPolicy
from simgap.text import number

Point = tuple[float, ...]  # theta as drawn


@final
@dataclass(frozen=True, slots=True, eq=False)
class GridOptima:
    """What is earned at best in the table of each point."""

    name: str  # of the policy that plans
    at: Mapping[Point, Certified]
    certified: Certainty  # for what

    def beside(self, answer: Transfer) -> Transfer:
        """Return the record with the optimum at each of its points."""
        return replace(
            answer,
            policies=tuple(map(self._beside, answer.policies)),
            notes=(*answer.notes, self._note()),
            certainty={**answer.certainty, "grid_optimum": self.certified},
        )

    def _note(self) -> Note:
        least = number(min(each.lower for each in self.at.values()), 4)
        most = number(max(each.upper for each in self.at.values()), 4)
        return Note(
            "grid-optimum",
            f"the table of {self.name} earns from {least} to {most} at these points, "
            f"{self.certified}; a simulator that a grid stands for may allow more",
        )

    def _beside(self, policy: TransferPolicy) -> TransferPolicy:
        points = tuple(
            replace(each, grid_optimum=self.at.get(tuple(each.theta.values())))
            for each in policy.points
        )
        return replace(policy, points=points)


def grid_optima(work: Work, noise: str, progress: Tell) -> GridOptima | None:
    """Return the optima of the first policy that plans on a grid; None without one.

    The table has neither noise nor a delay: where the simulator has, there is none.
    """
    planning = next((p for p in work.policies if isinstance(p, GridPolicy)), None)
    if planning is None or noise:
        return None
    found: dict[Point, Certified] = {}
    for at, theta in enumerate(work.points.theta):
        progress(
            f"{planning.name}: planning at point {at + 1} of {len(work.points.theta)}"
        )
        values = {
            name: float(each[0])
            for name, each in work.randomization.values(theta[None]).items()
        }
        if not values.get("delay", 0.0):
            found[tuple(theta.tolist())] = planning.plan(values).optimum
    return GridOptima(planning.name, found, planning.certified) if found else None
