"""UCRL2 and UCRL2B compiled: a plan, a walk until some row has doubled, a plan, ..."""

from __future__ import annotations

from math import sqrt

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.solving.extended_values import (
    FINEST,
    Chart,
    Plausible,
    Sheet,
    ball_radius,
    count_visits,
    empty_plausible,
    empty_sheet,
    extended_plan,
    interval_radius,
    set_plausible,
)
from simgap._kernels.walking.walk import (
    S32,
    STEPS,
    Record,
    World,
    begin,
    finish,
    new_course,
    new_run,
    play_until,
    set_course,
)
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray


@kernel
def plan_ucrl(
    balls: bool,
    chart: Chart,
    counts: OffsetArray,
    rewards: FloatArray,
    spread: float,
    step: int,
    delta: float,
    factor: float,
    least_visited: bool,
    most_sweeps: int,
    values: FloatArray,
    policy: IndexArray,
    quota: OffsetArray,
    plausible: Plausible,
    sheet: Sheet,
) -> int:
    """Plan for the episode that begins with a step; return sweeps, or -1 without plan.

    Accuracy is 1 / sqrt(t) for balls and 1 / t for intervals, in units of `spread`,
    that of the rewards. `quota` is how often a state may use its action until it has
    doubled.
    """
    n_states = values.size
    n_actions = rewards.size // n_states
    count_visits(chart, counts, sheet.visits)
    set_plausible(balls, chart, counts, sheet.visits, step, delta, factor, plausible)
    accuracy = max(FINEST, 1.0 / sqrt(step) if balls else 1.0 / step)
    sweeps = extended_plan(
        balls,
        plausible,
        rewards,
        spread,
        accuracy,
        least_visited,
        most_sweeps,
        values,
        policy,
        sheet,
    )
    for s in range(n_states):
        quota[s] = max(1, sheet.visits[s * n_actions + policy[s]])
    return sweeps


@kernel(allocates=True)
def run_ucrl(
    world: World,
    keys: AnyArray,
    balls: bool,
    chart: Chart,
    rewards: FloatArray,
    spread: float,
    delta: float,
    factor: float,
    least_visited: bool,
    most_sweeps: int,
    grid: OffsetArray,
    record: Record,
    bracket: FloatArray,
) -> int:
    """Run one episode for every key; return -1, or the step whose plan failed.

    Bound: sum of (upper end of the best plausible gain) - rewards. Slack: the greatest
    distance of the real model from the frequencies, in units of the radius.
    """
    n_states, n_edges = chart.into.size - 1, chart.row.size
    n_rows = rewards.size
    run, course = new_run(world), new_course(world)
    plausible = empty_plausible(n_rows, n_states, n_edges)
    sheet = empty_sheet(n_rows, n_states)
    values, policy = np.zeros(n_states), np.zeros(n_states, np.int32)
    quota = np.zeros(n_states, np.int64)
    chances = np.zeros(n_edges)
    edge_chances(world, chances)
    for i in range(keys.size):
        begin(world, keys[i], run)
        values[:] = 0.0
        promised, slack, plans = 0.0, 0.0, 0
        while run.clock[STEPS] < world.horizon:
            done = run.clock[STEPS]
            sweeps = plan_ucrl(
                balls, chart, run.counts, rewards, spread, done + 1, delta, factor,
                least_visited, most_sweeps, values, policy, quota, plausible, sheet,
            )  # fmt: skip
            if sweeps < 0:
                copy_vector(sheet.bracket, bracket)
                return done  # type: ignore[no-any-return]
            plans += 1
            slack = max(
                slack,
                distance(
                    balls, chart, run.counts, sheet.visits, done + 1, delta, factor,
                    chances,
                ),
            )  # fmt: skip
            set_course(world, policy, course)
            play_until(
                world, run, course, world.horizon - done, -1, quota, grid,
                record.trace[i],
            )  # fmt: skip
            promised += (run.clock[STEPS] - done) * sheet.bracket[1]
        finish(world, run, record, i)
        record.bound[i] = promised - record.reward[i]
        record.slack[i] = slack
        record.switches[i] = max(0, plans - 1)
    return -1


@kernel
def distance(
    balls: bool,
    chart: Chart,
    counts: OffsetArray,
    visits: OffsetArray,
    step: int,
    delta: float,
    factor: float,
    chances: FloatArray,
) -> float:
    """Return how far a model is from the frequencies; it is plausible up to 1."""
    n_states = chart.into.size - 1
    n_actions = visits.size // n_states
    once = ball_radius(n_states, n_actions, step, delta, 1)
    worst = 0.0
    for row in range(visits.size):
        if visits[row] == 0:
            continue
        apart = 0.0
        for e in range(chart.indptr[row], chart.indptr[row + 1]):
            chance = counts[e] / visits[row]
            off = abs(chance - chances[e])
            apart += off
            if not balls:
                radius = interval_radius(
                    n_states, n_actions, delta, visits[row], chance
                )
                worst = max(worst, off / (factor * radius))
        if balls:
            worst = max(worst, apart * sqrt(visits[row]) / (factor * once))
    return worst


@kernel
def edge_chances(world: World, chances: FloatArray) -> None:
    """Write the chance of every edge of a model, read off the cells it draws from."""
    width = 1 << world.shift
    chances[:] = 0.0
    for at in range(world.cuts.size):
        share = float(world.cuts[at]) / 18446744073709551616.0
        chances[np.int64(world.cells[2 * at] >> S32)] += share / width
        chances[np.int64(world.cells[2 * at + 1] >> S32)] += (1.0 - share) / width
