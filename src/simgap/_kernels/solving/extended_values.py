"""Extended value iteration: the best plan in the best model that is still plausible.

(T v)(s) = max_a R(s, a) + max_q q v over the laws q that are plausible in row (s, a).
The greatest q v puts what may move where v is greatest. With top = max v it is
top + max_q q (v - top), so only what stays away from the top has to be added up. States
are sorted once per sweep; the edges that were seen are kept by the state they lead to,
so that all rows are filled in one pass over the states.

Certificate: for any v, min (Tv - v) <= the best plausible gain <= max (Tv - v), and the
greedy policy earns at least the lower end in its own plausible model. It holds wherever
v comes from, so a plan may start from the values of the plan before. Steps
v += tau (Tv - v) with tau < 1 keep the sweeps from running in circles. If the real
model is plausible and has diameter D, v(s) >= v(s') - D (max (Tv - v) - min R) for all
s, s' (walk there by the fastest way), so sp(v) <= D (max (Tv - v) - min R): what the
proof of Jaksch, Ortner and Auer (2010) needs, who start from zero.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray

STEP = 0.9  # tau
TIED = 1e-10  # of the spread of the rewards: actions closer than this are equal
FINEST = 1e-9  # of the spread: no plan is asked to be more accurate


class Chart(NamedTuple):
    """Where edges lie: by row, and by the state they lead to."""

    indptr: OffsetArray  # (S A + 1,)
    row: OffsetArray  # (E,)
    into: OffsetArray  # (S + 1,), bounds of the edges into a state
    arriving: OffsetArray  # (E,), edges by the state they lead to


class Plausible(NamedTuple):
    """The laws that are plausible in every row, as edges by the state they lead to.

    Ball: `low` is the observed frequency and `room` how much mass may move. Intervals:
    `low` and `low` + `more` are the ends of a seen edge, 0 and `room` those of an
    unseen one, and `spare` is the mass that the lower ends leave.
    """

    into: OffsetArray  # (S + 1,)
    row: OffsetArray  # (E,)
    low: FloatArray  # (E,)
    more: FloatArray  # (E,)
    room: FloatArray  # (S A,), 1 if every law is plausible
    spare: FloatArray  # (S A,)


class Sheet(NamedTuple):
    """Scratch paper of the sweeps."""

    visits: OffsetArray  # (S A,)
    order: OffsetArray  # (S,), states by rising value
    ahead: FloatArray  # (S A,), max_q q (v - top)
    left: FloatArray  # (S A,), mass still to be placed
    gate: FloatArray  # (S A,), what the state at hand can take
    change: FloatArray  # (S,), Tv - v
    bracket: FloatArray  # (2,), of the best plausible gain


@kernel(allocates=True)
def empty_plausible(n_rows: int, n_states: int, n_edges: int) -> Plausible:
    """Return room for what is plausible."""
    return Plausible(
        np.zeros(n_states + 1, np.int64),
        np.zeros(n_edges, np.int64),
        np.zeros(n_edges),
        np.zeros(n_edges),
        np.ones(n_rows),
        np.ones(n_rows),
    )


@kernel(allocates=True)
def empty_sheet(n_rows: int, n_states: int) -> Sheet:
    """Return scratch paper."""
    return Sheet(
        np.zeros(n_rows, np.int64),
        np.zeros(n_states, np.int64),
        np.zeros(n_rows),
        np.zeros(n_rows),
        np.zeros(n_rows),
        np.zeros(n_states),
        np.zeros(2),
    )


@kernel
def ball_radius(
    n_states: int, n_actions: int, step: int, delta: float, visits: int
) -> float:
    """Return sqrt(14 S log(2 A t / delta) / N): L1 radius of UCRL2 from step t on."""
    log_term = log(2.0 * n_actions * step / delta)
    return sqrt(14.0 * n_states * log_term / max(1, visits))


@kernel
def interval_radius(
    n_states: int, n_actions: int, delta: float, visits: int, chance: float
) -> float:
    """Return 2 sqrt(p (1 - p) x / N) + 6 x / N, x = log(6 S A N / delta) (UCRL2B)."""
    n = max(1, visits)
    part = log(6.0 * n_states * n_actions * n / delta) / n
    return 2.0 * sqrt(chance * (1.0 - chance) * part) + 6.0 * part


@kernel
def count_visits(chart: Chart, counts: OffsetArray, visits: OffsetArray) -> None:
    """Write how often every row was used."""
    for row in range(visits.size):
        total = 0
        for e in range(chart.indptr[row], chart.indptr[row + 1]):
            total += counts[e]
        visits[row] = total


@kernel
def set_plausible(
    balls: bool,
    chart: Chart,
    counts: OffsetArray,
    visits: OffsetArray,
    step: int,
    delta: float,
    factor: float,
    plausible: Plausible,
) -> None:
    """Write the laws that the counts leave plausible from a step on (counted from 1).

    `factor` multiplies the published radius. A row never used allows every law.
    """
    n_states = chart.into.size - 1
    n_actions = visits.size // n_states
    once = ball_radius(n_states, n_actions, step, delta, 1) if balls else 0.0
    for row in range(visits.size):
        room = 1.0
        if visits[row] > 0 and balls:
            room = 0.5 * factor * once / sqrt(visits[row])
        elif visits[row] > 0:
            room = factor * interval_radius(
                n_states, n_actions, delta, visits[row], 0.0
            )
        plausible.room[row] = min(1.0, room)
        plausible.spare[row] = 1.0
    at = 0
    for state in range(n_states):
        plausible.into[state] = at
        for k in range(chart.into[state], chart.into[state + 1]):
            edge = chart.arriving[k]
            row = chart.row[edge]
            if counts[edge] == 0 or plausible.room[row] >= 1.0:
                continue
            chance = counts[edge] / visits[row]
            low, more = chance, 0.0
            if not balls:
                radius = factor * interval_radius(
                    n_states, n_actions, delta, visits[row], chance
                )
                low = max(0.0, chance - radius)
                more = min(1.0, chance + radius) - low
                plausible.spare[row] -= low
            plausible.row[at] = row
            plausible.low[at] = low
            plausible.more[at] = more
            at += 1
    plausible.into[n_states] = at


@kernel
def extended_plan(
    balls: bool,
    plausible: Plausible,
    rewards: FloatArray,
    spread: float,
    accuracy: float,
    least_visited: bool,
    most_sweeps: int,
    values: FloatArray,
    policy: IndexArray,
    sheet: Sheet,
) -> int:
    """Plan to a width of the gain's bracket; return sweeps, or -1 if they run out.

    `accuracy` counts in units of `spread`, that of the rewards. `values` is where to
    start and becomes the v of the certificate; the policy is greedy for it.
    """
    n_states = values.size
    n_actions = rewards.size // n_states
    ahead, change = sheet.ahead, sheet.change
    for s in range(n_states):
        sheet.order[s] = s
    low, high = -np.inf, np.inf
    for sweep in range(most_sweeps):
        _sort(values, sheet.order)
        top = values[sheet.order[n_states - 1]]
        if balls:
            _fill_balls(plausible, values, sheet)
        else:
            _fill_intervals(plausible, values, sheet)
        low, high = np.inf, -np.inf
        for s in range(n_states):
            best = -np.inf
            for row in range(s * n_actions, (s + 1) * n_actions):
                best = max(best, rewards[row] + ahead[row])
            change[s] = best + (top - values[s])
            low, high = min(low, change[s]), max(high, change[s])
        if high - low < accuracy * spread or high == low:
            sheet.bracket[0], sheet.bracket[1] = low, high
            for s in range(n_states):
                best = change[s] - (top - values[s]) - TIED * spread
                policy[s] = _choice(s, n_actions, best, rewards, least_visited, sheet)
            return sweep + 1
        lowest = np.inf
        for s in range(n_states):
            values[s] += STEP * change[s]
            lowest = min(lowest, values[s])
        for s in range(n_states):
            values[s] -= lowest
    sheet.bracket[0], sheet.bracket[1] = low, high
    return -1


@kernel
def _choice(
    state: int,
    n_actions: int,
    best: float,
    rewards: FloatArray,
    least_visited: bool,
    sheet: Sheet,
) -> int:
    """Return the lowest action worth `best`, or of these the least visited one."""
    chosen = -1
    for a in range(n_actions):
        row = state * n_actions + a
        if rewards[row] + sheet.ahead[row] < best:
            continue
        if chosen < 0:
            chosen = a
            if not least_visited:
                break
        elif sheet.visits[row] < sheet.visits[state * n_actions + chosen]:
            chosen = a
    return chosen


@kernel
def _sort(values: FloatArray, order: OffsetArray) -> None:
    """Sort states by value, equal ones by number; the last order is a good start."""
    for i in range(1, order.size):
        state = order[i]
        value = values[state]
        j = i - 1
        while j >= 0 and (
            values[order[j]] > value or (values[order[j]] == value and order[j] > state)
        ):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = state


@kernel
def _fill_balls(plausible: Plausible, values: FloatArray, sheet: Sheet) -> None:
    """Take mass from the worst states first, to the best, where it adds nothing."""
    order, ahead, left = sheet.order, sheet.ahead, sheet.left
    for row in range(ahead.size):
        ahead[row] = 0.0
        left[row] = plausible.room[row]
    top = values[order[order.size - 1]]
    for i in range(order.size - 1):
        state = order[i]
        below = values[state] - top
        if below == 0.0:
            break
        for k in range(plausible.into[state], plausible.into[state + 1]):
            row = plausible.row[k]
            taken = min(plausible.low[k], left[row])
            left[row] -= taken
            ahead[row] += (plausible.low[k] - taken) * below


@kernel
def _fill_intervals(plausible: Plausible, values: FloatArray, sheet: Sheet) -> None:
    """Give every state its lower end, and what is left to the best states first."""
    order, ahead, left, gate = sheet.order, sheet.ahead, sheet.left, sheet.gate
    n_rows = ahead.size
    for row in range(n_rows):
        ahead[row] = 0.0
        left[row] = plausible.spare[row]
        gate[row] = plausible.room[row]
    top = values[order[order.size - 1]]
    for i in range(order.size - 1, -1, -1):
        state = order[i]
        below = values[state] - top
        begin, end = plausible.into[state], plausible.into[state + 1]
        for k in range(begin, end):
            gate[plausible.row[k]] = plausible.more[k]
            ahead[plausible.row[k]] += plausible.low[k] * below
        for row in range(n_rows):
            taken = min(gate[row], left[row])
            left[row] -= taken
            ahead[row] += taken * below
        for k in range(begin, end):
            gate[plausible.row[k]] = plausible.room[plausible.row[k]]
