"""PSRL compiled: a model drawn from the posterior, its plan, a walk, another model, ...

Rows of the drawn model are Dirichlet: gamma variates divided by their sum. Their random
stream is a key and a counter, so that an episode is a function of its key alone.
"""

from __future__ import annotations

from math import cos, e, exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.walking.streams import uniform
from simgap._kernels.walking.walk import (
    STATE,
    STEPS,
    Record,
    World,
    begin,
    finish,
    new_course,
    new_run,
    play_until,
    set_course,
    step_with,
)
from simgap.arrays import AnyArray, FloatArray, IndexArray, Integer, OffsetArray

STEP = 0.9  # tau of v += tau (Tv - v): no drawn model makes the sweeps run in circles
FINEST = 1e-9  # of the spread of the rewards: no plan is asked to be more accurate


class Draw(NamedTuple):
    """A drawn model and the plan that was made for it."""

    model: FloatArray  # (S, S A): next state, row; sweeps run along the rows
    shape: FloatArray  # (S,), of one row
    part: FloatArray  # (S,), gamma variates of one row
    totals: FloatArray  # (S A,), R + P v
    bracket: FloatArray  # (2,), of the drawn model's gain
    visits: OffsetArray  # (S A,)


@kernel(allocates=True)
def empty_draw(n_rows: int, n_states: int) -> Draw:
    """Return room for a model and its plan."""
    return Draw(
        np.empty((n_states, n_rows)),
        np.empty(n_states),
        np.empty(n_states),
        np.empty(n_rows),
        np.empty(2),
        np.empty(n_rows, np.int64),
    )


@kernel
def draw_model(
    key: Integer,
    counter: int,
    indptr: OffsetArray,
    next_state: IndexArray,
    counts: OffsetArray,
    weight: float,
    draw: Draw,
) -> int:
    """Draw every row from Dirichlet(weight + counts); return the next free counter."""
    shape, part, n_states = draw.shape, draw.part, draw.shape.size
    for row in range(indptr.size - 1):
        shape[:] = weight
        visits = 0
        for edge in range(indptr[row], indptr[row + 1]):
            shape[next_state[edge]] += counts[edge]
            visits += counts[edge]
        draw.visits[row] = visits
        total = 0.0
        if weight >= 1.0:
            for s in range(n_states):
                part[s], counter = gamma_variate(key, counter, shape[s])
                total += part[s]
        else:
            # small shapes give variates below the least float: logarithms do not
            greatest = -np.inf
            for s in range(n_states):
                part[s], counter = log_gamma_variate(key, counter, shape[s])
                greatest = max(greatest, part[s])
            for s in range(n_states):
                part[s] = exp(part[s] - greatest)
                total += part[s]
        for s in range(n_states):
            draw.model[s, row] = part[s] / total
    return counter


@kernel
def gamma_variate(key: Integer, counter: int, shape: float) -> tuple[float, int]:
    """Return a gamma variate of a shape >= 1 (Marsaglia and Tsang 2000)."""
    if shape == 1.0:
        return -log(1.0 - uniform(key, counter)), counter + 1
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        far = sqrt(-2.0 * log(1.0 - uniform(key, counter)))
        x = far * cos(2.0 * pi * uniform(key, counter + 1))  # normal
        u = 1.0 - uniform(key, counter + 2)
        counter += 3
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        square = x * x
        if u < 1.0 - 0.0331 * square * square:  # saves two logarithms
            return d * v, counter
        if log(u) < 0.5 * square + d * (1.0 - v + log(v)):
            return d * v, counter


@kernel
def log_gamma_variate(key: Integer, counter: int, shape: float) -> tuple[float, int]:
    """Return the logarithm of a gamma variate of any shape.

    Below 1 by rejection from x^(a-1) on [0, 1] and e^-x beyond (Ahrens and Dieter
    1974): half the work of U^(1/a) times a variate of shape a + 1.
    """
    if shape >= 1.0:
        value, counter = gamma_variate(key, counter, shape)
        return log(value), counter
    whole = 1.0 + shape / e
    while True:
        place = whole * (1.0 - uniform(key, counter))
        u = 1.0 - uniform(key, counter + 1)
        counter += 2
        if place <= 1.0:
            log_value = log(place) / shape
            # e^-x is 1 to the last bit where x < e^-40
            if log_value < -40.0 or u <= exp(-exp(log_value)):
                return log_value, counter
        else:
            value = -log((whole - place) / shape)
            if u <= value ** (shape - 1.0):
                return log(value), counter


@kernel
def plan_drawn(
    draw: Draw,
    rewards: FloatArray,
    width: float,
    most_sweeps: int,
    values: FloatArray,
    policy: IndexArray,
) -> int:
    """Plan the drawn model to a width of its gain; return sweeps, -1 if they run out.

    min (Tv - v) <= gain <= max (Tv - v) for any v, and the greedy policy earns at least
    the lower end, so that `values` may come from the plan of another model.
    """
    n_states = values.size
    n_rows = rewards.size
    n_actions = n_rows // n_states
    totals = draw.totals
    low, high = -np.inf, np.inf
    for sweep in range(most_sweeps):
        copy_vector(rewards, totals)
        for s in range(n_states):
            value = values[s]
            for row in range(n_rows):
                totals[row] += draw.model[s, row] * value
        low, high = np.inf, -np.inf
        for s in range(n_states):
            best = totals[s * n_actions]
            chosen = 0
            for a in range(1, n_actions):
                if totals[s * n_actions + a] > best:
                    best = totals[s * n_actions + a]
                    chosen = a
            policy[s] = chosen
            totals[s] = best - values[s]  # its row has been read
            low, high = min(low, totals[s]), max(high, totals[s])
        if high - low < width or high == low:
            draw.bracket[0], draw.bracket[1] = low, high
            return sweep + 1
        lowest = np.inf
        for s in range(n_states):
            values[s] += STEP * totals[s]
            lowest = min(lowest, values[s])
        for s in range(n_states):
            values[s] -= lowest
    draw.bracket[0], draw.bracket[1] = low, high
    return -1


@kernel
def plan_psrl(
    key: Integer,
    counter: int,
    indptr: OffsetArray,
    next_state: IndexArray,
    counts: OffsetArray,
    rewards: FloatArray,
    spread: float,
    weight: float,
    step: int,
    growing: bool,
    most_sweeps: int,
    values: FloatArray,
    policy: IndexArray,
    quota: OffsetArray,
    draw: Draw,
) -> tuple[int, int]:
    """Draw and plan for the episode that begins with a step (counted from 1).

    Returns sweeps (-1 without plan) and the next free counter. `quota` is how often a
    state may use its action: until its row has doubled, and with `growing` once more.
    """
    n_states = values.size
    n_actions = rewards.size // n_states
    counter = draw_model(key, counter, indptr, next_state, counts, weight, draw)
    width = max(FINEST, 1.0 / sqrt(step)) * spread
    sweeps = plan_drawn(draw, rewards, width, most_sweeps, values, policy)
    for s in range(n_states):
        visits = draw.visits[s * n_actions + policy[s]]
        quota[s] = visits + 1 if growing else max(1, visits)
    return sweeps, counter


@kernel(allocates=True)
def run_psrl(
    world: World,
    keys: AnyArray,
    rewards: FloatArray,
    spread: float,
    weight: float,
    growing: bool,
    most_sweeps: int,
    grid: OffsetArray,
    record: Record,
    bracket: FloatArray,
) -> int:
    """Run one episode for every key; return -1, or the step whose plan failed."""
    n_states = world.potential.size
    run, course = new_run(world), new_course(world)
    draw = empty_draw(rewards.size, n_states)
    values, policy = np.zeros(n_states), np.zeros(n_states, np.int32)
    quota = np.zeros(n_states, np.int64)
    for i in range(keys.size):
        begin(world, keys[i], run)
        values[:] = 0.0
        trace = record.trace[i]
        counter, plans, length = 0, 0, 0
        while run.clock[STEPS] < world.horizon:
            done = run.clock[STEPS]
            sweeps, counter = plan_psrl(
                run.stream[2], counter, world.indptr, world.next_state, run.counts,
                rewards, spread, weight, done + 1, growing, most_sweeps, values,
                policy, quota, draw,
            )  # fmt: skip
            if sweeps < 0:
                copy_vector(draw.bracket, bracket)
                return done  # type: ignore[no-any-return]
            plans += 1
            set_course(world, policy, course)
            most = world.horizon - done
            if growing:
                # the row that doubles is used once more, and that ends the episode
                most = min(most, length + 1)
                for s in range(n_states):
                    quota[s] -= 1
            play_until(world, run, course, most, -1, quota, grid, trace)
            if growing and run.clock[STEPS] - done < most:
                step_with(world, run, course.rows[run.clock[STATE]], grid, trace)
            length = run.clock[STEPS] - done
        finish(world, run, record, i)
        record.switches[i] = max(0, plans - 1)
    return -1
