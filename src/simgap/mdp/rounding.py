"""How a policy for the table is played in the simulator: states are rounded."""

from __future__ import annotations

from enum import Enum

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.mdp.grid_origin import GridOrigin


class Rounding(Enum):
    """As which state of the table a state of the simulator is seen."""

    NEAREST = "nearest"  # the nearest node, axis by axis
    STOCHASTIC = "stochastic"  # a corner of the cell, drawn by the table's own weights


def seen_states(
    origin: GridOrigin,
    points: FloatArray,
    rounding: Rounding,
    random: np.random.Generator,
) -> OffsetArray:
    """Return the state of the table as which each point (n, d) is seen, (n,)."""
    if rounding is Rounding.NEAREST:
        nodes = origin.grid.nearest(points)
    else:
        uniforms = random.random(len(points))
        nodes = origin.grid.drawn(points, origin.scheme, uniforms)
    return origin.state_of_node[nodes]
