"""Proposition 1: without a diameter, one wrong door costs the whole horizon.

State 0 has M doors. Door i leads to s_{i,1}. In model i the next state is s_{i,2},
which pays 1; in every other model it is s_{i,3}, which pays nothing. Both are never
left.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.instances.arguments import check_volume, checked_whole
from simgap.instances.known import Known
from simgap.mdp import Details, SimulatorClass, class_from_edges

MOST_DOORS = 500


def absorbing_doors(members: int = 2) -> SimulatorClass:
    """Return the class of Proposition 1 (theory 4.8): 3 M + 1 states, M actions."""
    members = checked_whole("members", members, least=2, most=MOST_DOORS)
    n_states = 3 * members + 1
    check_volume("absorbing_doors", members * n_states * members)
    model, door, action = (
        axis.ravel() for axis in np.meshgrid(*[np.arange(members)] * 3, indexing="ij")
    )
    hall, paid, unpaid = 3 * door + 1, 3 * door + 2, 3 * door + 3
    blocks = [
        (hall, np.where(door == model, paid, unpaid)),
        (paid, paid),
        (unpaid, unpaid),
    ]
    first = action == 0  # one edge per (model, door) leaves the start
    edges = [np.column_stack([model, 0 * door, door, hall])[first]]
    edges += [np.column_stack([model, here, action, after]) for here, after in blocks]
    table = np.concatenate(edges)
    rewards = np.zeros((n_states, members))
    rewards[2::3] = 1.0
    parts = ("hall", "paid", "unpaid")
    return class_from_edges(
        table,
        np.ones(len(table)),
        rewards,
        shape=(members, n_states, members),
        details=Details(
            model_names=[f"door {m}" for m in range(members)],
            state_names=["start"] + [f"{p} {i}" for i in range(members) for p in parts],
            action_names=[f"door {i}" for i in range(members)],
        ),
    )


def absorbing_doors_known(members: int = 2) -> Known:
    """Return V* = H - 2, W* = (H - 2) / M, D infinite, separation 2 (theory row 22)."""
    members = checked_whole("members", members, least=2, most=MOST_DOORS)

    def value(horizon: int) -> FloatArray:
        return np.full(members, float(max(horizon - 2, 0)))

    def oracle_value(horizon: int) -> float:
        return max(horizon - 2, 0) / members

    return Known(
        diameter=np.full(members, np.inf),
        separation=2.0,
        value=value,
        oracle_value=oracle_value,
    )
