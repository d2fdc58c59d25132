"""Refining a cover: halve cells that the data leave open, the most optimistic first.

First every alive cell is brought below a radius, in order of optimism as long as there
is room for more cells. Then the alive cell with the greatest bound on its gain is
planned and halved, again and again, until one with a plan of its own and a still
smaller radius stays on top: branch and bound for the most optimistic model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.cover import Cell, FamilyCover, planned
from simgap.base_policies.infinite.cover_confidence import (
    Evidence,
    Plausible,
    plausible,
)

SEARCHES = 100  # halvings of the most optimistic cell in one search


@final
@dataclass(frozen=True, slots=True, eq=False)
class Refined:
    """The cells after a search."""

    cells: tuple[Cell, ...]
    predicted: FloatArray  # (N, E S)
    seen: Plausible
    current: int  # the alive cell with the greatest bound; it has a plan
    held_back: bool  # whether an alive cell is too large for want of room


def refined(
    cover: FamilyCover,
    cells: tuple[Cell, ...],
    data: Evidence,
    *,
    radius: float,
    top_radius: float,
    max_cells: int,
    horizon: int,
) -> Refined:
    """Return cells with alive ones below `radius`, the top one below `top_radius`."""
    predicted, searches = data.predictions(cells), 0
    fixed: set[Cell] = set()  # cells that cannot be halved
    roots, seen = len(cover.roots), None
    while True:
        if seen is None:
            seen = plausible(cells, predicted, data, horizon=horizon, roots=roots)
        alive = np.flatnonzero(seen.alive).tolist()
        alive.sort(key=lambda b: (-cells[b].gain_bound, -cells[b].gain))
        room = max(0, max_cells - len(cells))
        large = [b for b in alive if cells[b].radius > radius and cells[b] not in fixed]
        chosen, top = large[:room], cells[alive[0]]
        if not chosen and not top.planned:
            own = planned(top, cover.support)
            cells = tuple(own if cell is top else cell for cell in cells)
            continue
        if not chosen and searches < SEARCHES and room > 0:
            searches += 1
            wide = top.radius > top_radius and top not in fixed
            chosen = alive[:1] if wide else []
        if not chosen:
            return Refined(cells, predicted, seen, alive[0], len(large) > 0)
        halved = {b: cover.halves(cells[b]) for b in chosen}
        fixed |= {cells[b] for b, both in halved.items() if both is None}
        added = tuple(half for both in halved.values() if both for half in both)
        kept = [b for b in range(len(cells)) if halved.get(b) is None]
        cells = (*(cells[b] for b in kept), *added)
        if added:
            predicted = np.concatenate([predicted[kept], data.predictions(added)])
            seen = None
