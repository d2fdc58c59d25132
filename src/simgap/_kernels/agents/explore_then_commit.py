"""Explore-then-commit, compiled: random steps, one look at the evidence, one walk."""

from __future__ import annotations

import numpy as np

from simgap._kernels.agents.fixed_policies import Table, follow_rules
from simgap._kernels.agents.known_class import Plans, Weights, log_likelihoods
from simgap._kernels.compiled import kernel
from simgap._kernels.walking.endings import Tails, leave_to_expectation
from simgap._kernels.walking.walk import (
    FIRST_STATE,
    STEPS,
    Record,
    World,
    begin,
    finish,
    new_course,
    new_run,
    play,
    set_course,
)
from simgap.arrays import AnyArray, OffsetArray


@kernel(allocates=True)
def run_commitment(
    world: World,
    keys: AnyArray,
    plans: Plans,
    weights: Weights,
    explored: int,
    exploring: Table,
    tails: Tails,
    grid: OffsetArray,
    record: Record,
) -> None:
    """Explore for a number of steps and commit to the likeliest model, per key."""
    members = plans.policy.shape[0]
    n_edges = world.next_state.size
    run, course = new_run(world), new_course(world)
    forgotten = np.zeros(n_edges, np.int64)
    logs = np.zeros(members)
    for i in range(keys.size):
        begin(world, keys[i], run)
        trace = record.trace[i]
        follow_rules(world, run, exploring, np.int64(0), explored, grid, trace)
        first = weights.at_start[run.clock[FIRST_STATE]]
        log_likelihoods(first, run.counts, forgotten, weights, logs)
        best = np.int64(plans.order[0])
        for m in plans.order:
            if logs[m] > logs[best]:
                best = np.int64(m)
        if logs[best] == -np.inf:  # the real model is not in the class
            record.resets[i] += 1
        for m in range(members):
            if m != best:
                record.eliminated[i, m] = explored
        record.identified[i] = explored
        if explored > 0:
            record.switches[i] += 1
        left = world.horizon - run.clock[STEPS]
        if tails.sums.shape[0] > 0 and run.clock[STEPS] < world.early:
            leave_to_expectation(world, run, tails, plans.tail_of[best])
        elif left > 0:
            set_course(world, plans.policy[best], course)
            play(world, run, course, left, grid, trace)
        finish(world, run, record, i)
