"""The law of one episode of Algorithm 3: when its test fires, and in which state.

The statistic after n steps is n rho + l(first) - l(now) - (sum of rewards), and rewards
lie on a lattice, base + unit * jump. With the n bases moved into rho it is
n drift + rise[now] - unit * c, c the sum of the jumps. So (now, c) is a Markov chain,
and the test cuts it off where c leaves an interval that depends on n and on now.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_table
from simgap.arrays import FloatArray, IndexArray, OffsetArray

FAR = 4e15  # beyond every count; float whole numbers are exact below


@kernel
def passage_steps(
    indptr: OffsetArray,
    sources: IndexArray,
    chances: FloatArray,
    jumps: OffsetArray,
    rise: FloatArray,
    drift: float,
    unit: float,
    thresholds: FloatArray,
    fuzz: FloatArray,
    two_sided: bool,
    prune: float,
    last: int,
    place: OffsetArray,
    now: FloatArray,
    spare: FloatArray,
    alive: FloatArray,
    passed: FloatArray,
    lost: FloatArray,
) -> int:
    """Go on from step place[0] to step `last`; return the cells looked at.

    Moves are listed by where they lead: those into t come from `sources`, with
    `chances`. `place` is (steps done, least c, columns, first column in `now`); the
    chance of (s, c) stands in now[s, first + c - least]. Stops early when the columns
    no longer fit or no chance is left. `alive` and `passed` are (N + 1, S), `lost` is
    (chance pruned, chance decided within `fuzz`), `thresholds` and `fuzz` are (N + 1,).
    """
    n_states = indptr.size - 1
    reach = 0
    for s in range(n_states):
        reach = max(reach, jumps[s])
    done = place[0]
    low = place[1]
    width = place[2]
    first = place[3]
    source = now
    goal = spare
    swapped = False
    cells = 0
    while done < last and width > 0 and width + reach <= now.shape[1]:
        done += 1
        wide = width + reach
        cells += n_states * wide
        for t in range(n_states):
            row = goal[t]
            row[:wide] = 0.0
            for k in range(indptr[t], indptr[t + 1]):
                origin = source[sources[k]]
                jump = jumps[sources[k]]
                chance = chances[k]
                for i in range(width):
                    row[jump + i] += chance * origin[first + i]
            # The test leaves c from bottom to top; an end within rounding of a cell
            # leaves that cell undecided.
            level = done * drift + rise[t]
            bottom = min(max((level - thresholds[done]) / unit - low, -FAR), FAR)
            keep_from = int(min(max(np.ceil(bottom), 0.0), float(wide)))
            keep_to = wide
            lost[1] += _undecided(row, wide, bottom, fuzz[done])
            if two_sided:
                top = min(max((level + thresholds[done]) / unit - low, -FAR), FAR)
                keep_to = int(max(min(np.floor(top) + 1.0, float(wide)), 0.0))
                lost[1] += _undecided(row, wide, top, fuzz[done])
            total = 0.0
            for i in range(keep_from):
                total += row[i]
                row[i] = 0.0
            for i in range(max(keep_to, keep_from), wide):
                total += row[i]
                row[i] = 0.0
            passed[done, t] = total
        begin = 0
        while begin < wide:
            column = 0.0
            for t in range(n_states):
                column += goal[t, begin]
            if column >= prune:
                break
            lost[0] += column
            begin += 1
        end = wide
        while end > begin:
            column = 0.0
            for t in range(n_states):
                column += goal[t, end - 1]
            if column >= prune:
                break
            lost[0] += column
            end -= 1
        for t in range(n_states):
            alive[done, t] = _sum(goal[t], begin, end)
        low += begin
        first = begin
        width = end - begin
        source, goal = goal, source
        swapped = not swapped
    if swapped:
        copy_table(spare[:, first : first + width], now[:, first : first + width])
    place[0] = done
    place[1] = low
    place[2] = width
    place[3] = first
    return cells


@kernel
def _undecided(row: FloatArray, wide: int, at: float, fuzz: float) -> float:
    """Take the chance out of the cell that `at` cannot be told from, and return it."""
    cell = np.rint(at)
    if not 0.0 <= cell < wide or abs(at - cell) > fuzz:
        return 0.0
    chance = row[int(cell)]
    row[int(cell)] = 0.0
    return float(chance)


@kernel
def _sum(row: FloatArray, begin: int, end: int) -> float:
    """Return the sum of row[begin:end]; four at a time, so that none waits."""
    a = b = c = d = 0.0
    i = begin
    while i + 3 < end:
        a += row[i]
        b += row[i + 1]
        c += row[i + 2]
        d += row[i + 3]
        i += 4
    while i < end:
        a += row[i]
        i += 1
    return (a + b) + (c + d)
