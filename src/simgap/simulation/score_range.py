"""What an episode can earn and lose at least and at most, on any path.

An interval that holds whatever the law of the losses needs their range. The last steps
of an episode are followed backwards over everything that can happen: what an action
loses, and then the worst or the best that may follow it. Earlier steps count with the
least and the largest loss of a step. See `worlds` for what is added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.walking.endings import lose_most
from simgap._kernels.walking.walk import World
from simgap.arrays import BoolArray, FloatArray
from simgap.simulation.worlds import RealModels, on_edges

MOST_WORK = 3 * 10**7  # edges times steps that are followed; beyond, single steps count
SUMS = 1e-12  # relative error of sums over an episode, more than there can be

Range = tuple[float, float]


@final
@dataclass(frozen=True, slots=True)
class ScoreRanges:
    """Least and greatest of what one episode leaves behind (see `Runs`)."""

    reward: Range
    gap: Range
    moved: Range  # what first and last state add to a regret
    step: Range  # what a step adds to a regret

    def regret(self, steps: int) -> Range:
        """Return the range of the regret after a number of steps."""
        low, high = (
            end + steps * each for end, each in zip(self.moved, self.step, strict=True)
        )
        return low, high


def score_ranges(real: RealModels, member: int) -> ScoreRanges:
    """Return the ranges over all episodes in a model, whatever is played there."""
    world, horizon = real.world(member), real.horizon
    chances, paid = on_edges(real.observed, real.simulators, member)
    drawn = chances > 0.0
    first, potential = world.start_law > 0.0, world.potential
    step = float(world.excess[drawn].min()), float(world.excess[drawn].max())
    late = [
        sign * _most_lost(world, drawn, sign * world.late_excess)
        for sign in (-1.0, 1.0)
    ]
    low, high = (potential - world.late_potential + end for end in late)
    if world.early == 0:
        low, high = ((world.ahead + end)[first] for end in (low, high))
    else:
        ahead = world.ahead[first]
        low = low + ahead.min() + world.early * step[0]
        high = high + ahead.max() + world.early * step[1]
    begin = potential[first]
    reward = horizon * float(paid[drawn].min()), horizon * float(paid[drawn].max())
    gap = float(low.min()), float(high.max())
    moved = float(potential.min() - begin.max()), float(potential.max() - begin.min())
    each = horizon * step[0], horizon * step[1]
    most = max(abs(end) for end in (*reward, *gap, *moved, *each))
    off = float(real.rounding[member]) + SUMS * most
    return ScoreRanges(
        reward=(reward[0] - off, reward[1] + off),
        gap=(gap[0] - off, gap[1] + off),
        moved=(moved[0] - off, moved[1] + off),
        step=step,
    )


def _most_lost(world: World, drawn: BoolArray, losses: FloatArray) -> FloatArray:
    """Return the most that the last steps can lose from every state, (S,)."""
    most = np.zeros(world.potential.size)
    if losses.shape[0] * int(drawn.sum()) > MOST_WORK:
        return most + float(losses.max(axis=1).sum())
    lose_most(world.indptr, world.next_state, drawn, losses, most, np.empty(most.size))
    return most
