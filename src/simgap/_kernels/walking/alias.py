"""Tables to draw edges from: Walker's alias method in fixed point.

A row has 2^shift cells; a cell has a cut and two edges. One 64-bit number picks a cell
with its high bits and, with the rest, the first edge if it is below the cut.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from simgap._kernels.compiled import kernel
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray

S32 = np.uint64(32)


@kernel(allocates=True)
def fill_aliases(
    indptr: OffsetArray,
    next_state: IndexArray,
    chances: FloatArray,
    shift: int,
    cuts: AnyArray,
    cells: AnyArray,
) -> None:
    """Fill the cells of every row (Vose's construction, lowest edges first)."""
    width = 1 << shift
    share = np.empty(width)
    edge = np.empty(width, np.int64)
    small = np.empty(width, np.int64)
    large = np.empty(width, np.int64)
    for row in range(indptr.size - 1):
        begin = indptr[row]
        length = indptr[row + 1] - begin
        total = 0.0
        for c in range(length):
            total += chances[begin + c]
        n_small, n_large = 0, 0
        for c in range(width):
            edge[c] = begin + c if c < length else begin
            share[c] = chances[begin + c] / total * width if c < length else 0.0
        for c in range(width - 1, -1, -1):
            if share[c] < 1.0:
                small[n_small] = c
                n_small += 1
            else:
                large[n_large] = c
                n_large += 1
        while n_small > 0 and n_large > 0:
            n_small -= 1
            poor = small[n_small]
            rich = large[n_large - 1]
            _set_cell(
                next_state, cuts, cells, row * width + poor, share[poor], edge[poor],
                edge[rich],
            )  # fmt: skip
            share[rich] -= 1.0 - share[poor]
            if share[rich] < 1.0:
                n_large -= 1
                small[n_small] = rich
                n_small += 1
        # what is left is full up to rounding; an impossible edge never stays alone
        while n_large > 0:
            n_large -= 1
            c = large[n_large]
            _set_cell(
                next_state, cuts, cells, row * width + c, 1.0, edge[c], edge[c]
            )  # fmt: skip
        likely = begin
        for c in range(length):
            if chances[begin + c] > chances[likely]:
                likely = begin + c
        while n_small > 0:
            n_small -= 1
            c = small[n_small]
            own = edge[c] if share[c] > 0.5 else likely
            _set_cell(next_state, cuts, cells, row * width + c, 1.0, own, own)


@kernel
def _set_cell(
    next_state: IndexArray,
    cuts: AnyArray,
    cells: AnyArray,
    at: int,
    share: float,
    edge: int,
    other: int,
) -> None:
    high = np.floor(share * 4294967296.0)  # 2^64 share, without losing bits
    low = np.floor((share * 4294967296.0 - high) * 4294967296.0)
    if high >= 4294967296.0:
        cuts[at] = ~uint64(0)
        other = edge
    else:
        cuts[at] = (uint64(high) << S32) | uint64(low)
    cells[2 * at] = (uint64(edge) << S32) | uint64(next_state[edge])
    cells[2 * at + 1] = (uint64(other) << S32) | uint64(next_state[other])
