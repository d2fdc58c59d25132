"""Algorithm 3 compiled: long walks between looks at a statistic that cannot fire yet.

The statistic of candidate k is n rho_k - rewards + l_k(first) - l_k(now). In j steps it
moves by at most j `most_step`, and by at most j `most_drift` plus the span. While that
leaves it inside the threshold of the next step it need not be computed, so the walk
goes on. When it is computed, this is done from integer counts in one fixed order, so
that the answer is the same, bit for bit, as if it were computed at every step. Where
rewards are seen, the walk also stops after one that the candidate deems impossible.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from simgap._kernels.agents.known_class import Plans, best_alive
from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.walking.walk import (
    STATE,
    STEPS,
    Record,
    World,
    begin,
    finish,
    new_course,
    new_run,
    play,
    set_course,
    whole_steps,
)
from simgap._kernels.walking.watching import play_within
from simgap.arrays import AnyArray, BoolArray, FloatArray, IndexArray, OffsetArray


class Candidates(NamedTuple):
    """What Algorithm 3 knows of every model."""

    gain: FloatArray  # (M,)
    bias: FloatArray  # (M, S)
    span: FloatArray  # (M,)
    width: FloatArray  # (M,), factor of the threshold
    tolerance: FloatArray  # (M,)
    rounding: FloatArray  # (M,), of a statistic
    of_edge: IndexArray  # (M, E)
    paid: FloatArray  # (M, J)
    variance: FloatArray  # (M, J)
    most_step: FloatArray  # (M,)
    most_drift: FloatArray  # (M,)
    impossible: BoolArray  # (M, E)


@kernel
def threshold(
    by_variance: bool, n: int, predicted: float, width: float, log_term: float
) -> float:
    """Return how far the statistic of n steps may go."""
    if not by_variance:
        return width * sqrt(n * log_term)
    if width == 0.0:
        return 0.0
    level = width * width
    while level < predicted:
        level *= 2.0
    part = width * log_term / 3.0
    return part + sqrt(part * part + 2.0 * level * log_term)


@kernel(allocates=True)
def run_optimistic(
    world: World,
    member: int,
    keys: AnyArray,
    plans: Plans,
    known: Candidates,
    by_variance: bool,
    log_term: float,
    literal: bool,
    one_sided: bool,
    mismatches: bool,
    claimed: bool,
    lazy: bool,
    grid: OffsetArray,
    record: Record,
) -> None:
    """Run one episode of Algorithm 3 for every key.

    `claimed` says whether rewards are such that a path's regret has a bound.
    """
    members = plans.policy.shape[0]
    n_edges = world.next_state.size
    run, course = new_run(world), new_course(world)
    before = np.zeros(n_edges, np.int64)
    by_level = np.zeros(known.paid.shape[1], np.int64)
    alive = np.ones(members, np.bool_)
    price = np.zeros(n_edges)
    for i in range(keys.size):
        begin(world, keys[i], run)
        trace = record.trace[i]
        alive[:] = True
        left = members
        latest = np.int64(0)
        bound = 0.0
        while run.clock[STEPS] < world.horizon:
            k = best_alive(plans, alive)
            set_course(world, plans.policy[k], course)
            copy_vector(run.counts, before)
            first = run.clock[STATE]
            start = run.clock[STEPS]
            if mismatches:
                for e in range(n_edges):
                    price[e] = 1.0 if known.impossible[k, e] else 0.0
            skip = 0
            fired = False
            predicted = 0.0
            while not fired and run.clock[STEPS] < world.horizon:
                skip = min(skip, world.horizon - 1 - run.clock[STEPS])
                if not mismatches:
                    play(world, run, course, skip, grid, trace)
                    skip = 0
                edge = play_within(
                    world, run, course, skip + 1, price, 1.0, grid, trace
                )
                fired = price[edge] > 0.0
                n = run.clock[STEPS] - start
                by_level[:] = 0
                for e in range(n_edges):
                    if run.counts[e] != before[e]:
                        by_level[known.of_edge[k, e]] += run.counts[e] - before[e]
                paid = 0.0
                predicted = 0.0
                for j in range(by_level.size):
                    paid += by_level[j] * known.paid[k, j]
                    predicted += by_level[j] * known.variance[k, j]
                statistic = n * known.gain[k] - paid
                statistic = statistic + known.bias[k, first]
                statistic = statistic - known.bias[k, run.clock[STATE]]
                far = statistic if one_sided else abs(statistic)
                terms = n - 1 if literal else n  # errata E17
                limit = threshold(
                    by_variance, terms, predicted, known.width[k], log_term
                )
                limit += known.tolerance[k]
                if far > limit:
                    fired = True
                skip = 0
                if fired:  # what was predicted before the last step
                    by_level[known.of_edge[k, edge]] -= 1
                    predicted = 0.0
                    for j in range(by_level.size):
                        predicted += by_level[j] * known.variance[k, j]
                elif lazy:
                    # rounding of two statistics, and of this estimate
                    spare = 2.0 * known.rounding[k] + 1e-12 * limit
                    room = limit - abs(statistic) - spare
                    if known.most_step[k] > 0.0:
                        skip = max(skip, whole_steps(room / known.most_step[k]))
                    if known.most_drift[k] > 0.0:
                        slow = (room - known.span[k]) / known.most_drift[k]
                        skip = max(skip, whole_steps(slow))
                    elif room > known.span[k]:
                        skip = world.horizon
            n = run.clock[STEPS] - start
            # one step before it fired the statistic was inside its threshold
            inside = n - 1 if fired else n
            bound += threshold(by_variance, inside, predicted, known.width[k], log_term)
            bound += known.tolerance[k] + known.span[k]
            if fired:
                bound += known.most_step[k]
            bound += n * max(0.0, world.gain - known.gain[k])  # gains that are tied
            if fired:
                if record.eliminated[i, k] < 0:
                    record.eliminated[i, k] = run.clock[STEPS]
                alive[k] = False
                latest = run.clock[STEPS]
                left -= 1
                if left == 0:  # errata E18
                    alive[:] = True
                    left = members
                    record.resets[i] += 1
                record.switches[i] += 1
        if left == 1:
            record.identified[i] = latest
        finish(world, run, record, i)
        if claimed and member >= 0 and record.eliminated[i, member] < 0:
            record.bound[i] = bound
            lost = world.horizon * world.gain - record.reward[i]
            record.slack[i] = lost / bound if bound > 0.0 else 0.0  # H = 0
