"""A cycle with one action: the instance on which sp(l) = D (rho - min R)."""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.instances.arguments import checked_whole
from simgap.instances.known import Known
from simgap.mdp import Details, SimulatorClass, class_from_edges


def cycle(states: int = 3) -> SimulatorClass:
    """Return s -> s + 1 -> ... -> 0 with reward 1 in the last state (theory row 1)."""
    n_states = checked_whole("states", states)
    here = np.arange(n_states)
    zeros = np.zeros_like(here)
    edges = np.column_stack([zeros, here, zeros, (here + 1) % n_states])
    rewards = (here == n_states - 1).astype(np.float64)[:, None]
    return class_from_edges(
        edges,
        np.ones(n_states),
        rewards,
        shape=(1, n_states, 1),
        details=Details(model_names=("cycle",), action_names=("on",)),
    )


def cycle_known(states: int = 3) -> Known:
    """Return rho = 1/S, l(s) = s/S, D = S - 1, V*_1 = floor(H/S) (theory rows 1-3)."""
    n_states = checked_whole("states", states)

    def value(horizon: int) -> FloatArray:
        return np.array([float(horizon // n_states)])

    return Known(
        gain=np.array([1.0 / n_states]),
        bias=np.arange(n_states)[None, :] / n_states,
        diameter=np.array([n_states - 1.0]),
        separation=2.0,
        value=value,
    )
