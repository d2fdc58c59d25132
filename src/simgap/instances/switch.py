"""The two-state switch of Jaksch, Ortner and Auer: the core of Theorem 3.

In state 0 an action flips the switch with probability delta, one action with
delta + e. State 1 pays 1 and falls back with probability delta whatever is done.
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
    checked_grid,
    checked_points,
    checked_remainder,
)
from simgap.instances.family import family
from simgap.instances.known import Known, separation_of_rows
from simgap.mdp import (
    Details,
    IndexOrder,
    SimulatorClass,
    TabularMDP,
    mdp_from_arrays,
)


def switch(delta: Points = 0.1, e: Points = 0.05) -> SimulatorClass:
    """Return the switch for every (delta, e) (theory 4.11, rows 4-7; k = 1)."""
    return family(_instantiate, _grid(delta, e))


def switch_known(delta: Points = 0.1, e: Points = 0.05) -> Known:
    """Return rho, l, D and V*_1 of theory rows 4-6, one per (delta, e)."""
    fall, extra = np.array(list(product(*_grid(delta, e).values()))).T

    def value(horizon: int) -> FloatArray:
        return switch_value(fall, extra, horizon)

    return Known(
        gain=(fall + extra) / (2.0 * fall + extra),
        bias=np.column_stack([np.zeros(fall.size), 1.0 / (2.0 * fall + extra)]),
        diameter=1.0 / fall,
        separation=separation_of_rows(np.column_stack([fall, fall + extra])),
        value=value,
    )


def switch_value(delta: FloatArray, e: FloatArray, horizon: int) -> FloatArray:
    """Return H rho - rho (1 - (1 - 2 delta - e)^H) / (2 delta + e) (theory row 6)."""
    rate = 2.0 * delta + e
    gain = (delta + e) / rate
    value: FloatArray = horizon * gain - gain * (1.0 - (1.0 - rate) ** horizon) / rate
    return value


def _grid(delta: Points, e: Points) -> dict[str, tuple[float, ...]]:
    grid = {
        "delta": checked_points("delta", delta, POSITIVE_PROBABILITY),
        "e": checked_points("e", e, PROBABILITY),
    }
    checked_remainder("delta + e", max(grid["delta"]), max(grid["e"]))
    return checked_grid(grid)


def _instantiate(theta: Mapping[str, float]) -> TabularMDP:
    delta, e = theta["delta"], theta["e"]
    missed = checked_remainder("delta + e", delta, e)
    kernel = np.array(
        [
            [[missed, 1.0 - missed], [1.0 - delta, delta]],
            [[delta, 1.0 - delta], [delta, 1.0 - delta]],
        ]
    )
    details = Details(state_names=("zero", "one"), action_names=("good", "plain"))
    return mdp_from_arrays(
        kernel,
        np.array([[0.0, 0.0], [1.0, 1.0]]),
        order=IndexOrder.STATE_ACTION,
        details=details,
    )
