"""Gridworlds with a slippery floor: the parameter is how slippery.

Cells are numbered row by row from the top left, where the start is; the goal is the
bottom right. A move goes in the chosen direction with probability 1 - slip and
to either side with slip / 2; a move against a wall stays. The goal pays 1 and leads
back to the start whatever is done.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import (
    PROBABILITY,
    Points,
    check_volume,
    checked_points,
    checked_whole,
)
from simgap.instances.family import family
from simgap.instances.known import Known
from simgap.mdp import (
    Details,
    SimulatorClass,
    TabularMDP,
    mdp_from_edges,
)

MOVES = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}
MOST_SIDE = 1_000


def slip_grid(
    rows: int = 4, cols: int | None = None, slip: Points = 0.1
) -> SimulatorClass:
    """Return the grids of every slip probability; without `cols` they are square."""
    n_rows, n_cols = _sides(rows, cols)
    points = checked_points("slip", slip, PROBABILITY)
    check_volume("slip_grid", 12 * n_rows * n_cols * len(points))
    targets = _targets(n_rows, n_cols)

    def instantiate(theta: Mapping[str, float]) -> TabularMDP:
        return _grid(n_rows, n_cols, targets, theta["slip"])

    return family(instantiate, {"slip": points})


def slip_grid_known(
    rows: int = 4, cols: int | None = None, slip: Points = 0.1
) -> Known:
    """Return gain, D and V*_1 without slip, and gain and D in a corridor.

    The way has d = rows + cols - 2 moves and the goal takes one more. In a corridor a
    slip only wastes a step, so a move takes 1 / (1 - slip); this is best for slip up
    to 2/3, above which pushing against a side wall and slipping along the corridor is
    faster at its end. Otherwise NaN.
    """
    n_rows, n_cols = _sides(rows, cols)
    slips = np.array(checked_points("slip", slip, PROBABILITY))
    way = n_rows + n_cols - 2
    corridor = min(n_rows, n_cols) == 1
    closed = (slips == 0.0) | (corridor & (slips <= 2.0 / 3.0))
    walk = np.where(closed, way / (1.0 - np.where(closed, slips, 0.0)), np.nan)

    def value(horizon: int) -> FloatArray:
        return np.where(slips == 0.0, float(horizon // (way + 1)), np.nan)

    return Known(
        gain=1.0 / (walk + 1.0),
        diameter=walk,
        value=value,
    )


def _sides(rows: int, cols: int | None) -> tuple[int, int]:
    n_rows = checked_whole("rows", rows, most=MOST_SIDE)
    n_cols = n_rows if cols is None else checked_whole("cols", cols, most=MOST_SIDE)
    if n_rows * n_cols < 2:
        raise InvalidInstance(
            "a grid of one cell has no way to go",
            hint="give rows or cols of at least 2",
        )
    return n_rows, n_cols


def _targets(n_rows: int, n_cols: int) -> OffsetArray:
    """Return the cell that each move ends in, (cells, 4)."""
    row, col = np.divmod(np.arange(n_rows * n_cols), n_cols)
    after = [
        np.clip(row + dr, 0, n_rows - 1) * n_cols + np.clip(col + dc, 0, n_cols - 1)
        for dr, dc in MOVES.values()
    ]
    targets: OffsetArray = np.column_stack(after)
    targets[-1] = 0  # the goal restarts
    return targets


def _grid(n_rows: int, n_cols: int, targets: OffsetArray, slip: float) -> TabularMDP:
    cells, n_actions = targets.shape
    state = np.repeat(np.arange(cells), n_actions)
    action = np.tile(np.arange(n_actions), cells)
    blocks = [
        np.column_stack([state, action, targets[state, (action + turn) % n_actions]])
        for turn in (0, 1, -1)
    ]
    weights = np.repeat([1.0 - slip, slip / 2.0, slip / 2.0], state.size)
    rewards = np.zeros((cells, n_actions))
    rewards[-1] = 1.0
    names = [f"r{r}c{c}" for r in range(n_rows) for c in range(n_cols)]
    return mdp_from_edges(
        np.concatenate(blocks),
        weights,
        rewards,
        shape=(cells, n_actions),
        details=Details(state_names=names, action_names=tuple(MOVES)),
    )
