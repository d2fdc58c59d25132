"""One-action chains with known hitting times: easy models that are hard to solve.

State i moves up with `up`, down with `down` and stays otherwise; what would leave the
chain at an end stays. The last state pays 1. Without drift the diameter is S (S - 1);
against the drift it grows exponentially. Solvers that stop when little changes from
sweep to sweep give wrong answers on such chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from simgap.arrays import FloatArray
from simgap.instances.arguments import (
    POSITIVE_PROBABILITY,
    Points,
    check_volume,
    checked_grid,
    checked_points,
    checked_remainder,
    checked_whole,
)
from simgap.instances.birth_death import climb_bias, climb_times, last_frequency
from simgap.instances.family import family
from simgap.instances.known import Known
from simgap.mdp import (
    Details,
    SimulatorClass,
    TabularMDP,
    mdp_from_edges,
)


def chain(states: int = 6, up: Points = 0.2, down: Points = 0.4) -> SimulatorClass:
    """Return the birth-death chain of every (up, down), one action, last state pays."""
    n_states = checked_whole("states", states, least=2)
    grid = _grid(up, down)
    check_volume("chain", 3 * n_states * len(grid["up"]) * len(grid["down"]))

    def instantiate(theta: Mapping[str, float]) -> TabularMDP:
        return _chain(n_states, theta["up"], theta["down"])

    return family(instantiate, grid)


def chain_known(states: int = 6, up: Points = 0.2, down: Points = 0.4) -> Known:
    """Return gain, bias and diameter as birth-death sums.

    D is the longer of the two ways between the ends; both are sums of the times to
    move by one state.
    """
    n_states = checked_whole("states", states, least=2)
    grid = _grid(up, down)
    gains, biases, diameters = [], [], []
    for rise, fall in product(grid["up"], grid["down"]):
        ups, downs = [rise] * (n_states - 1), [fall] * (n_states - 1)
        gain = last_frequency(ups, downs)
        gains.append(gain)
        biases.append(climb_bias(ups, downs, gain))
        there = float(climb_times(ups, downs).sum())
        back = float(climb_times(downs, ups).sum())
        diameters.append(max(there, back))
    return Known(
        gain=np.array(gains), bias=np.array(biases), diameter=np.array(diameters)
    )


def nodrift(states: int = 10) -> SimulatorClass:
    """Return the chain with up = down = 1/2: diameter S (S - 1)."""
    return chain(states, 0.5, 0.5)


def nodrift_known(states: int = 10) -> Known:
    """Return rho = 1/S, l(i) = i (i + 1) / S, D = S (S - 1)."""
    n_states = checked_whole("states", states, least=2)
    here: FloatArray = np.arange(n_states, dtype=np.float64)
    return Known(
        gain=np.array([1.0 / n_states]),
        bias=(here * (here + 1.0) / n_states)[None, :],
        diameter=np.array([n_states * (n_states - 1.0)]),
        separation=2.0,
    )


def adverse(states: int = 10) -> SimulatorClass:
    """Return the chain with up 1/5 and down 2/5: its diameter doubles per state."""
    return chain(states, 0.2, 0.4)


def adverse_known(states: int = 10) -> Known:
    """Return rho = 1 / (2^S - 1) and D = 10 (2^(S-1) - 1) - 5 (S - 1)."""
    n_states = checked_whole("states", states, least=2)
    ways = 2.0**n_states if n_states < 1024 else np.inf
    diameter = 10.0 * (ways / 2.0 - 1.0) - 5.0 * (n_states - 1.0)
    return Known(
        gain=np.array([1.0 / (ways - 1.0)]),
        diameter=np.array([diameter]),
        separation=2.0,
    )


def _grid(up: Points, down: Points) -> dict[str, tuple[float, ...]]:
    grid = {
        "up": checked_points("up", up, POSITIVE_PROBABILITY),
        "down": checked_points("down", down, POSITIVE_PROBABILITY),
    }
    checked_remainder("up + down", max(grid["up"]), max(grid["down"]))
    return checked_grid(grid)


def _chain(n_states: int, rise: float, fall: float) -> TabularMDP:
    stay = checked_remainder("up + down", rise, fall)
    here = np.arange(n_states)
    once = np.zeros(n_states, np.int64)
    below, above = np.maximum(here - 1, 0), np.minimum(here + 1, n_states - 1)
    edges = [np.column_stack([here, once, after]) for after in (below, here, above)]
    rewards = (here == n_states - 1).astype(np.float64)[:, None]
    return mdp_from_edges(
        np.concatenate(edges),
        np.repeat([fall, stay, rise], n_states),
        rewards,
        shape=(n_states, 1),
        details=Details(action_names=("on",)),
    )
