"""The error of one step: how far the table moves from a step of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, read_only
from simgap.mdp.grid_states import NodeSteps
from simgap.mdp.state_grid import StateGrid


@final
@dataclass(frozen=True, slots=True, eq=False)
class OneStepError:
    """What one step of the table adds to one of the simulator, axis by axis.

    Means are over all nodes, actions and models, of steps that do not end.
    """

    spread: FloatArray  # (d,), root mean square of the noise; at most half a cell
    motion: FloatArray  # (d,), root mean square of the simulator's own step
    beyond: FloatArray  # (d,), the furthest that a step left the grid
    beyond_share: float  # of the steps that left it, and were moved to its end
    moved_share: float  # of the probability of states that went to nodes left out

    def __post_init__(self) -> None:
        for name in ("spread", "motion", "beyond"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@final
class StepTally:
    """Sums over the steps of all models."""

    def __init__(self, axes: int) -> None:
        self.steps = 0
        self.left = 0
        self.variance: FloatArray = np.zeros(axes)
        self.motion: FloatArray = np.zeros(axes)
        self.beyond: FloatArray = np.zeros(axes)

    def add(self, part: FloatArray, motion: FloatArray, beyond: FloatArray) -> None:
        if len(part) == 0:
            return
        self.steps += len(part)
        self.variance += (part * (1.0 - part)).sum(axis=0)
        self.motion += (motion**2).sum(axis=0)
        self.beyond = np.maximum(self.beyond, beyond.max(axis=0))
        self.left += int((beyond > 0.0).any(axis=1).sum())

    def measured(
        self, grid: StateGrid, steps: Sequence[NodeSteps], kept: BoolArray
    ) -> OneStepError:
        count = max(1, self.steps)
        lost, moved, rows = np.append(~kept, False), 0.0, 0.0
        for each in steps if not kept.all() else ():
            weights = each.weights[kept]
            rows += float(weights.sum())
            moved += float(weights[lost[each.corners[kept]]].sum())
        return OneStepError(
            spread=grid.spacing * np.sqrt(self.variance / count),
            motion=np.sqrt(self.motion / count),
            beyond=self.beyond,
            beyond_share=self.left / count,
            moved_share=moved / max(1.0, rows),
        )
