"""RiverSwim (Strehl and Littman 2008): a current against the only large reward.

Left always succeeds. Right goes up with probability `success` from the inner states,
down with `down`, and stays otherwise. The two ends do not depend on `success`: from
the first state right goes up with .6 and stays with .4, in the last it stays with .6
and falls with .4. With `uniform` they do: the current is the same everywhere, and what
would leave the river stays. At success .35 and down .05 (not uniform) this is theory
row 10 exactly, and the families of theory rows 34 and 39 are these.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from simgap.arrays import FloatArray
from simgap.instances.arguments import (
    POSITIVE_PROBABILITY,
    PROBABILITY,
    Points,
    check_volume,
    checked_grid,
    checked_number,
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

FIRST_UP = 0.6  # right from the first state; else it stays
LAST_DOWN = 0.4  # right in the last state; else it stays and pays 1


def riverswim(
    states: int = 6,
    success: Points = 0.35,
    down: Points = 0.05,
    *,
    left_reward: float = 0.005,
    uniform: bool = False,
) -> SimulatorClass:
    """Return the rivers of every (success, down) (theory row 10); state 0 is left."""
    n_states = checked_whole("states", states, least=2)
    reward = checked_number("left_reward", left_reward, PROBABILITY)
    grid = _grid(success, down)
    members = len(grid["success"]) * len(grid["down"])
    check_volume("riverswim", members * 4 * n_states)

    def instantiate(theta: Mapping[str, float]) -> TabularMDP:
        return _river(n_states, theta["success"], theta["down"], reward, uniform)

    return family(instantiate, grid)


def riverswim_known(
    states: int = 6,
    success: Points = 0.35,
    down: Points = 0.05,
    *,
    left_reward: float = 0.005,
    uniform: bool = False,
) -> Known:
    """Return gain and diameter as birth-death sums (theory rows 10-11).

    A stationary policy earns `left_reward` by staying on the left or swims right for
    good. Where swimming wins, l rises by rho times the time to climb a state. D is the
    longer of the climb and the S - 1 steps back.
    """
    n_states = checked_whole("states", states, least=2)
    reward = checked_number("left_reward", left_reward, PROBABILITY)
    grid = _grid(success, down)
    gains, diameters, biases = [], [], []
    for rate, back in product(grid["success"], grid["down"]):
        up, fall = _rates(n_states, rate, back, uniform)
        swim = last_frequency(up, fall)
        gains.append(max(reward, swim))
        diameters.append(max(float(climb_times(up, fall).sum()), n_states - 1.0))
        unknown: FloatArray = np.full(n_states, np.nan)
        biases.append(climb_bias(up, fall, swim) if swim > reward else unknown)
    return Known(
        gain=np.array(gains),
        bias=np.array(biases),
        diameter=np.array(diameters),
    )


def _grid(success: Points, down: Points) -> dict[str, tuple[float, ...]]:
    grid = {
        "success": checked_points("success", success, POSITIVE_PROBABILITY),
        "down": checked_points("down", down, PROBABILITY),
    }
    checked_remainder("success + down", max(grid["success"]), max(grid["down"]))
    return checked_grid(grid)


def _rates(
    n_states: int, rate: float, back: float, uniform: bool
) -> tuple[list[float], list[float]]:
    if uniform:
        return [rate] * (n_states - 1), [back] * (n_states - 1)
    up = [FIRST_UP] + [rate] * (n_states - 2)
    fall = [back] * (n_states - 2) + [LAST_DOWN]
    return up, fall


def _river(
    n_states: int, rate: float, back: float, reward: float, uniform: bool
) -> TabularMDP:
    stay = checked_remainder("success + down", rate, back)
    here = np.arange(n_states)
    left = np.zeros(n_states, np.int64)
    right = left + 1
    up, inner, fall = (np.full(n_states, x) for x in (rate, stay, back))
    first_up, last_down = (rate, back) if uniform else (FIRST_UP, LAST_DOWN)
    up[0], inner[0], fall[0] = first_up, 1.0 - first_up, 0.0
    up[-1], inner[-1], fall[-1] = 0.0, 1.0 - last_down, last_down
    below, above = np.maximum(here - 1, 0), np.minimum(here + 1, n_states - 1)
    edges = [(here, left, below), (here, right, below)]
    edges += [(here, right, here), (here, right, above)]
    rewards = np.zeros((n_states, 2))
    rewards[0, 0], rewards[-1, 1] = reward, 1.0
    return mdp_from_edges(
        np.concatenate([np.column_stack(block) for block in edges]),
        np.concatenate([np.ones(n_states), fall, inner, up]),
        rewards,
        shape=(n_states, 2),
        details=Details(action_names=("left", "right")),
    )
