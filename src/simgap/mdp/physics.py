"""What `discretise` needs of a simulator: its equations, for many states at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, read_only
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp.grid_states import NodeSteps
from simgap.mdp.state_grid import StateGrid

SLACK = 1e-12  # of the range of rewards: what rounding may exceed it by

Theta = Mapping[str, float]


class Moved(NamedTuple):
    """What one step of n independent copies of a simulator leads to."""

    state: FloatArray  # (n, d)
    reward: FloatArray  # (n,)
    ended: BoolArray  # (n,)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Physics:
    """A simulator without randomness: (theta, states, actions) -> next states.

    Episodes start evenly in the box `start`. Rewards lie in `reward_range`, which holds
    0 if episodes end: that is what is paid after the end.
    """

    name: str
    step: Callable[
        [Theta, FloatArray, FloatArray], Moved
    ]  # states (n, d), actions (n,)
    actions: FloatArray  # (A,)
    action_names: tuple[str, ...]  # (A,)
    start: tuple[tuple[float, float], ...]  # (d,) of (low, high)
    reward_range: tuple[float, float]
    ends: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", read_only(self.actions))
        if self.actions.ndim != 1 or self.actions.shape != (len(self.action_names),):
            raise InvalidArgument(
                f"actions of shape {self.actions.shape} with "
                f"{len(self.action_names)} names",
                hint="give a list of numbers, and a name for each",
            )
        low, high = self.reward_range
        if not (isfinite(low) and isfinite(high) and low < high):
            raise InvalidArgument(
                f"rewards from {low} to {high}", hint="give two finite ends, low < high"
            )
        if self.ends and not low <= 0.0 <= high:
            raise InvalidArgument(
                f"rewards from {low} to {high} in a simulator that ends",
                hint="an episode that is over is paid 0: widen the range to hold it",
            )

    def checked_rewards(self, reward: FloatArray) -> FloatArray:
        """Return rewards, refusing those outside the range."""
        low, high = self.reward_range
        room = SLACK * (high - low)
        wrong = ~((reward >= low - room) & (reward <= high + room))  # NaN is wrong
        if wrong.any():
            raise InvalidModel(
                f"{self.name} pays {reward[wrong][0]}, its rewards are said to lie in "
                f"[{self.reward_range[0]}, {self.reward_range[1]}]",
                hint="widen reward_range",
            )
        return np.clip(reward, low, high)

    def starts(self, draws: FloatArray) -> FloatArray:
        """Return start states at quantiles (n, d) of the box."""
        low, high = np.array(self.start).T
        first: FloatArray = low + (high - low) * draws
        return first

    def moved(self, theta: Theta, states: FloatArray, actions: FloatArray) -> Moved:
        """Return one step, checked for an end that was not announced."""
        after = self.step(theta, states, actions)
        if not self.ends and after.ended.any():
            raise InvalidModel(
                f"{self.name} ended, and says that it never does",
                hint="give Physics(ends=True)",
            )
        return after


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
