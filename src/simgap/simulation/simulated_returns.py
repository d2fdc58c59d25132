"""A policy of a table in the simulator itself; states are rounded before actions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.mdp import (
    Discretisation,
    Rounding,
    seen_states,
)
from simgap.policies import MarkovPolicy

Play = Callable[[int, OffsetArray], OffsetArray]


def simulated_returns(
    table: Discretisation,
    member: int,
    policy: MarkovPolicy | Play,
    starts: FloatArray,
    horizon: int,
    rounding: Rounding,
    random: np.random.Generator,
) -> FloatArray:
    """Return the sum of H rewards from each start (n, d), (n,).

    A policy that remembers is given by the actions (n,) that it plays at a step in the
    states seen (n,).
    """
    physics, theta = table.physics, table.thetas[table.simulators.member(member)]
    points, over = np.array(starts), np.zeros(len(starts), np.bool_)
    total: FloatArray = np.zeros(len(starts))
    for h in range(horizon):
        seen = seen_states(table.origin, points, rounding, random)
        if table.end is not None:
            seen = np.where(over, table.end, seen)
        if isinstance(policy, MarkovPolicy):
            actions = _played(policy, h, seen, random)
        else:
            actions = policy(h, seen)
        after = physics.moved(theta, points, physics.actions[actions])
        total += np.where(over, 0.0, after.reward)
        if table.restart:
            fresh = physics.starts(random.random(points.shape))
            points = np.where(over[:, None], fresh, after.state)
            over = after.ended & ~over
        else:
            points = np.where(over[:, None], points, after.state)
            over = over | after.ended
    return total


def _played(
    policy: MarkovPolicy, h: int, seen: OffsetArray, random: np.random.Generator
) -> OffsetArray:
    of_step = policy.table if policy.horizon is None else policy.table[h]
    if policy.certain:
        return np.asarray(of_step[seen], np.int64)
    reached = np.cumsum(of_step[seen], axis=1)
    uniforms = random.random(len(seen)) * reached[:, -1]
    return np.asarray((reached <= uniforms[:, None]).sum(axis=1), np.int64)
