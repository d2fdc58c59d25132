"""A windy gridworld beside a cliff: where the wind comes from is not known.

Cells are numbered row by row from the top left. The start is the bottom left, the goal
the bottom right; between them, two cells from either, lies a cliff. A step goes in the
chosen direction with probability 1 - strength and otherwise where the wind blows; a
step against a wall stays. The goal pays 1; from the goal and from the cliff every
action leads back to the start.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.instances.arguments import (
    Interval,
    Points,
    check_volume,
    checked_grid,
    checked_points,
    checked_whole,
)
from simgap.instances.known import Known
from simgap.mdp import (
    Details,
    SimulatorClass,
    TabularMDP,
    class_over_grid,
    mdp_from_edges,
)

MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
STRENGTHS = (0.15, 0.45)
STRENGTH = Interval(0.0, 1.0, high_open=True)
MOST_SIDE = 300
SHORE = 2  # cells of the bottom row before and after the cliff


def windy_grid(size: int = 10, strength: Points | None = None) -> SimulatorClass:
    """Return the grids of every strength and all four directions of the wind."""
    side = checked_whole("size", size, least=3, most=MOST_SIDE)
    strengths = _strengths(strength)
    check_volume("windy_grid", 8 * side * side * 4 * len(strengths))
    targets, restarts = _targets(side)

    def instantiate(theta: Mapping[str, float]) -> TabularMDP:
        wind = int(theta["direction"])
        return _grid(side, targets, restarts, wind, theta["strength"])

    directions = tuple(float(each) for each in range(len(MOVES)))
    worlds = class_over_grid(
        instantiate,
        checked_grid({"strength": strengths, "direction": directions}),
        notes=("direction 0 is up, 1 right, 2 down, 3 left",),
    )
    names = [f"wind {way} {force:.9g}" for force in strengths for way in MOVES]
    return worlds.renamed(names)


def windy_grid_known(size: int = 10, strength: Points | None = None) -> Known:
    """Return the separation, and gain and V*_1 where there is no wind (else NaN).

    Two directions differ most where neither is the action: by twice the larger
    strength. One direction with two strengths differs by twice their difference.
    Without wind the way around the cliff has size + 1 moves, straight on size - 1.
    """
    side = checked_whole("size", size, least=3, most=MOST_SIDE)
    strengths = np.repeat(_strengths(strength), len(MOVES))
    distinct = np.sort(_strengths(strength))
    closest = min([float(distinct[0]), *np.diff(distinct).tolist()])
    way = side - 1 if side <= 2 * SHORE else side + 1
    calm = strengths == 0.0

    def value(horizon: int) -> FloatArray:
        return np.where(calm, float(horizon // (way + 1)), np.nan)

    return Known(
        gain=np.where(calm, 1.0 / (way + 1), np.nan),
        separation=2.0 * closest,
        value=value,
    )


def _strengths(given: Points | None) -> tuple[float, ...]:
    return checked_points("strength", STRENGTHS if given is None else given, STRENGTH)


def _targets(side: int) -> tuple[OffsetArray, BoolArray]:
    """Return where each move ends, (cells, 4), and the cells that lead to the start."""
    row, col = np.divmod(np.arange(side * side), side)
    after = [
        np.clip(row + dr, 0, side - 1) * side + np.clip(col + dc, 0, side - 1)
        for dr, dc in MOVES.values()
    ]
    bottom = row == side - 1
    cliff = bottom & (col >= SHORE) & (col < side - SHORE)
    restarts = cliff | (bottom & (col == side - 1))
    targets: OffsetArray = np.column_stack(after)
    targets[restarts] = (side - 1) * side
    return targets, restarts


def _grid(
    side: int, targets: OffsetArray, restarts: BoolArray, wind: int, strength: float
) -> TabularMDP:
    cells, n_actions = targets.shape
    state = np.repeat(np.arange(cells), n_actions)
    action = np.tile(np.arange(n_actions), cells)
    meant = np.column_stack([state, action, targets[state, action]])
    blown = np.column_stack([state, action, targets[state, wind]])
    weights = np.repeat([1.0 - strength, strength], state.size)
    rewards = np.zeros((cells, n_actions))
    rewards[-1] = 1.0
    return mdp_from_edges(
        np.concatenate([meant, blown]),
        weights,
        rewards,
        shape=(cells, n_actions),
        details=Details(
            start=(side - 1) * side,
            state_names=_names(side, restarts),
            action_names=tuple(MOVES),
        ),
    )


def _names(side: int, restarts: BoolArray) -> list[str]:
    names = [f"r{r}c{c}" for r in range(side) for c in range(side)]
    cliff = [f"cliff {name}" if restarts[at] else name for at, name in enumerate(names)]
    return [*cliff[:-1], "goal"]
