"""Two copies of an agent in two models, coupled: what both must lose together.

B_h(s, t) is the least over actions a at s and b at t of what both steps lose plus the
value of a coupling g of where they lead,

    weight l_i(h, s, a) + other l_j(h, t, b) + sum_uv g(u, v) B_{h+1}(u, v).

An agent that remembers k transitions must act alike, b = a, where both copies have seen
the same: they are in the same state and their last k transitions agree. How many agree,
0 to k, is all that matters of the past, so a place is (agreed, s, t), with agreed = 0
where s and t differ. Without memory k = 0, and copies in the same state act alike.

Any coupling gives a lower bound, and so does one that leaves mass out, as B >= 0. Where
one of two rows has at most three entries the coupling is the best one.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray

SHORT = 25  # cells of two rows, up to which a coupling is improved
LONG = 400  # up to which it is filled by value
SHIFTS = 4  # improvements of a coupling at most, for every entry of the two rows
CERTAIN = 1e-13  # relative: a smaller improvement is rounding


@kernel
def places_met(
    n_actions: int,
    window: int,
    begin_i: OffsetArray,
    state_i: IndexArray,
    begin_j: OffsetArray,
    state_j: IndexArray,
    met: BoolArray,
    places: IndexArray,
    count: int,
    ends: OffsetArray,
) -> int:
    """Return for how many steps all places are known that two copies can be in.

    `places` (Q, 3) begins with `count` first ones, marked in `met` (k + 1, S, S). The
    others follow in the order of the least step that leads there: ends[h] of them are
    met in h steps. Steps whose places do not fit are left out.
    """
    done, ends[0] = 0, count
    for h in range(1, ends.size):
        last = count
        for at in range(done, last):
            agreed, s, t = places[at]
            for a in range(n_actions):
                for b in range(n_actions):
                    if s == t and agreed == window and a != b:
                        continue
                    row, line = s * n_actions + a, t * n_actions + b
                    for p in range(begin_i[row], begin_i[row + 1]):
                        for q in range(begin_j[line], begin_j[line + 1]):
                            u, v = state_i[p], state_j[q]
                            alike = s == t and a == b and u == v
                            then = min(agreed + 1, window) if alike else 0
                            if met[then, u, v]:
                                continue
                            if count == places.shape[0]:
                                return h
                            met[then, u, v] = True
                            places[count, 0] = then
                            places[count, 1] = u
                            places[count, 2] = v
                            count += 1
        done = last
        ends[h] = count
    return int(ends.size)


@kernel(allocates=True)
def couple_backward(
    places: IndexArray,
    ends: OffsetArray,
    window: int,
    begin_i: OffsetArray,
    state_i: IndexArray,
    chance_i: FloatArray,
    losses_i: FloatArray,
    begin_j: OffsetArray,
    state_j: IndexArray,
    chance_j: FloatArray,
    losses_j: FloatArray,
    weight: float,
    other: float,
    discount: float,
    heaviest: float,
    below: FloatArray,
    now: FloatArray,
) -> FloatArray:
    """Return B of the first step, (k + 1, S, S), for the first ends[0] places.

    The first `ends.size` steps count. `below` and `now` are zeros (k + 1, S, S), and
    `heaviest` is the largest sum of a row, or 1.
    """
    n_actions = losses_i.shape[2]
    longest = 1
    for row in range(begin_i.size - 1):
        longest = max(longest, begin_i[row + 1] - begin_i[row])
        longest = max(longest, begin_j[row + 1] - begin_j[row])
    cost = np.empty((longest, longest))
    mass = np.empty((longest, longest))
    left = np.empty(longest)
    right = np.empty(longest)
    promise = np.empty(n_actions * n_actions)
    for back in range(ends.size):
        step = ends.size - 1 - back
        h = min(step, losses_i.shape[0] - 1)
        for at in range(ends[step]):
            agreed, s, t = places[at]
            bound_to = s == t and agreed == window
            for code in range(promise.size):
                a, b = code // n_actions, code % n_actions
                promise[code] = np.inf
                if bound_to and a != b:
                    continue
                row, line = s * n_actions + a, t * n_actions + b
                then = min(agreed + 1, window) if s == t and a == b else 0
                apart = 0.0  # as if the two copies moved independently
                for p in range(begin_i[row], begin_i[row + 1]):
                    u, part = state_i[p], 0.0
                    for q in range(begin_j[line], begin_j[line + 1]):
                        v = state_j[q]
                        part += chance_j[q] * below[then if u == v else 0, u, v]
                    apart += chance_i[p] * part
                paid = weight * losses_i[h, s, a] + other * losses_j[h, t, b]
                promise[code] = paid + discount * (apart / heaviest)
            best = np.inf
            while True:  # couple the most promising actions first
                code = int(np.argmin(promise))
                least = promise[code]
                if least >= best:
                    break
                promise[code] = np.inf
                a, b = code // n_actions, code % n_actions
                row, line = s * n_actions + a, t * n_actions + b
                then = min(agreed + 1, window) if s == t and a == b else 0
                first, start = begin_i[row], begin_j[line]
                rows, lines = begin_i[row + 1] - first, begin_j[line + 1] - start
                for i in range(rows):
                    u = state_i[first + i]
                    left[i] = chance_i[first + i]
                    for j in range(lines):
                        v = state_j[start + j]
                        cost[i, j] = below[then if u == v else 0, u, v]
                        mass[i, j] = 0.0
                for j in range(lines):
                    right[j] = chance_j[start + j]
                paid = weight * losses_i[h, s, a] + other * losses_j[h, t, b]
                into, onto = state_i[first:], state_j[start:]
                couple(into, onto, cost, rows, lines, left, right, mass)
                found = paid + discount * carried(cost, rows, lines, mass)
                best = min(best, max(least, found))
            now[agreed, s, t] = best
        below, now = now, below
    return below


@kernel
def couple(
    into: IndexArray,
    onto: IndexArray,
    cost: FloatArray,
    rows: int,
    lines: int,
    left: FloatArray,
    right: FloatArray,
    mass: FloatArray,
) -> None:
    """Add a coupling of `left` and `right` to `mass`; both are used up.

    Dearest cells come first, then mass moves around cycles of two and three cells while
    that gains: a coupling that no cycle improves is the best one, and no cycle has more
    cells than the shorter row. Long rows are coupled in equal states first, then in
    their order.
    """
    if rows * lines > LONG:
        _fill_alike(into, onto, rows, lines, left, right, mass)
        return
    while True:
        best, row, line = -1.0, -1, -1
        for i in range(rows):
            if left[i] > 0.0:
                for j in range(lines):
                    if right[j] > 0.0 and cost[i, j] > best:
                        best, row, line = cost[i, j], i, j
        if row < 0:
            break
        part = min(left[row], right[line])
        mass[row, line] += part
        left[row] -= part
        right[line] -= part
    if rows * lines <= SHORT:
        for _ in range(SHIFTS * (rows + lines)):
            if not _shifted(cost, rows, lines, mass):
                break


@kernel
def _fill_alike(
    into: IndexArray,
    onto: IndexArray,
    rows: int,
    lines: int,
    left: FloatArray,
    right: FloatArray,
    mass: FloatArray,
) -> None:
    for i in range(rows):
        for j in range(lines):
            if into[i] == onto[j]:
                part = min(left[i], right[j])
                mass[i, j] += part
                left[i] -= part
                right[j] -= part
    i, j = 0, 0
    while i < rows and j < lines:
        part = min(left[i], right[j])
        mass[i, j] += part
        left[i] -= part
        right[j] -= part
        if left[i] <= 0.0:
            i += 1
        else:
            j += 1


@kernel
def _shifted(cost: FloatArray, rows: int, lines: int, mass: FloatArray) -> bool:
    """Make one move that gains; return whether there was one."""
    for i in range(rows):
        for j in range(lines):
            if mass[i, j] <= 0.0:
                continue
            for k in range(i + 1, rows):
                for m in range(lines):
                    if m == j or mass[k, m] <= 0.0:
                        continue
                    two = cost[i, j] + cost[k, m]
                    if cost[i, m] + cost[k, j] - two > CERTAIN * two:
                        part = min(mass[i, j], mass[k, m])
                        mass[i, j] -= part
                        mass[k, m] -= part
                        mass[i, m] += part
                        mass[k, j] += part
                        return True
                    for x in range(i + 1, rows):
                        if x == k:
                            continue
                        for y in range(lines):
                            if y in (j, m) or mass[x, y] <= 0.0:
                                continue
                            three = two + cost[x, y]
                            after = cost[i, m] + cost[k, y] + cost[x, j]
                            if after - three > CERTAIN * three:
                                part = min(mass[i, j], mass[k, m], mass[x, y])
                                mass[i, j] -= part
                                mass[k, m] -= part
                                mass[x, y] -= part
                                mass[i, m] += part
                                mass[k, y] += part
                                mass[x, j] += part
                                return True
    return False


@kernel
def carried(cost: FloatArray, rows: int, lines: int, mass: FloatArray) -> float:
    """Return what a coupling is worth."""
    total = 0.0
    for i in range(rows):
        for j in range(lines):
            if mass[i, j] > 0.0:
                total += mass[i, j] * cost[i, j]
    return total
