"""Posterior sampling over a class, compiled: one draw and one walk per episode.

An episode ends with the step that doubles the visits of its state and action. A walk
that stops where only one such visit is missing, and one step more, do that.
"""

from __future__ import annotations

from math import exp

import numpy as np

from simgap._kernels.agents.known_class import Plans, Weights, log_likelihoods
from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.walking.streams import uniform
from simgap._kernels.walking.walk import (
    FIRST_STATE,
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
from simgap.arrays import AnyArray, FloatArray, OffsetArray

TOO_SMALL = -40.0  # logarithm of a weight; that of 2^-53 is -36.7


@kernel
def drawn_model(logs: FloatArray, quantile: float) -> int:
    """Return the model at a quantile of the posterior, given logarithms of weights.

    Returns -1 if no model is possible. A quantile is a multiple of 2^-53, so models
    whose weight is too small for that beside the greatest are passed over.
    """
    most = -np.inf
    for m in range(logs.size):
        most = max(most, logs[m])
    if most == -np.inf:
        return -1
    total = 0.0
    for m in range(logs.size):
        if logs[m] - most > TOO_SMALL:
            total += exp(logs[m] - most)
    goal = quantile * total
    passed, last = 0.0, -1
    for m in range(logs.size):
        if logs[m] - most > TOO_SMALL:
            passed += exp(logs[m] - most)
            last = m
            if goal < passed:
                break
    return last


@kernel(allocates=True)
def run_posterior_sampling(
    world: World,
    keys: AnyArray,
    plans: Plans,
    weights: Weights,
    log_prior: FloatArray,
    capped: bool,
    grid: OffsetArray,
    record: Record,
) -> None:
    """Run one episode of posterior sampling for every key."""
    members, n_states = plans.policy.shape
    n_edges = world.next_state.size
    run, course = new_run(world), new_course(world)
    forgotten = np.zeros(n_edges, np.int64)
    quota = np.zeros(n_states, np.int64)
    first, logs = np.zeros(members), np.zeros(members)
    for i in range(keys.size):
        begin(world, keys[i], run)
        trace = record.trace[i]
        forgotten[:] = 0
        for m in range(first.size):
            first[m] = log_prior[m] + weights.at_start[run.clock[FIRST_STATE], m]
        current, number, length = -1, 0, 0
        while True:
            log_likelihoods(first, run.counts, forgotten, weights, logs)
            drawn = drawn_model(logs, uniform(run.stream[2], number))
            if drawn < 0:  # the real model is not in the class: begin anew
                record.resets[i] += 1
                copy_vector(run.counts, forgotten)
                copy_vector(log_prior, first)
                copy_vector(first, logs)
                drawn = drawn_model(logs, uniform(run.stream[2], number))
            for m in range(members):
                if logs[m] == -np.inf and record.eliminated[i, m] < 0:
                    record.eliminated[i, m] = run.clock[STEPS]
            if drawn != current:
                if current >= 0:
                    record.switches[i] += 1
                current = drawn
                set_course(world, plans.policy[current], course)
            number += 1
            most = length + 1 if capped else world.horizon
            start = run.clock[STEPS]
            left = min(most, world.horizon - start)
            for s in range(n_states):
                quota[s] = -1
                for e in range(world.indptr[course.rows[s]],
                               world.indptr[course.rows[s] + 1]):  # fmt: skip
                    quota[s] += run.counts[e]
                quota[s] = max(quota[s], 0)
            play_until(world, run, course, left, -1, quota, grid, trace)
            ended = run.clock[STEPS] - start == most
            if run.clock[STEPS] - start < left:  # one visit short of doubling
                row = course.rows[run.clock[STATE]]
                step_with(world, run, row, grid, trace)
                ended = True
            length = run.clock[STEPS] - start
            if not ended or world.horizon == 0:
                break
        finish(world, run, record, i)
