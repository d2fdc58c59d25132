"""Optimism with likelihood ratios, compiled: long walks between looks at the evidence.

An edge can move two survivors apart by at most the spread of its log-chances among the
survivors: that is its price. While the edges walked cost less than the greatest ratio
lacks of its limit, no model can have been dropped and nothing is computed. An edge that
a survivor deems impossible costs infinitely much, so the walk stops after it.
Log-likelihoods are computed from integer counts in one fixed order: the answer is the
same, bit for bit, as if they were computed at every step.

Whether the plan is final is asked after every change and 16, 64, 256, ... steps later,
because what a course can come to shrinks as transient states are left behind.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.agents.known_class import (
    Plans,
    Weights,
    best_alive,
    log_likelihoods,
)
from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.walking.endings import Tails, leave_to_expectation
from simgap._kernels.walking.walk import (
    FIRST_STATE,
    STATE,
    STEPS,
    Course,
    Record,
    Run,
    World,
    begin,
    finish,
    new_course,
    new_run,
    play,
    set_course,
    step_with,
)
from simgap._kernels.walking.watching import play_within, reach
from simgap.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    Integer,
    OffsetArray,
)

FIRST_ASKED, LATER_ASKED = 16, 4


@kernel(allocates=True)
def run_likelihood(
    world: World,
    member: int,
    keys: AnyArray,
    plans: Plans,
    weights: Weights,
    loss: FloatArray,  # (M, E), -log BC(P_k, P_*) at the row of the edge, or (0, E)
    limit: float,
    heaviest: float,
    lazy: bool,
    tails: Tails,
    grid: OffsetArray,
    record: Record,
) -> None:
    """Run one episode of optimism with likelihood ratios for every key."""
    members, n_states = plans.policy.shape
    n_edges = world.next_state.size
    run, course = new_run(world), new_course(world)
    states, edges = np.empty(n_states, np.bool_), np.empty(n_edges, np.bool_)
    price = np.empty(n_edges)
    forgotten = np.empty(n_edges, np.int64)
    first, logs = np.empty(members), np.empty(members)
    alive, before = np.empty(members, np.bool_), np.empty(members, np.bool_)
    checks = loss.shape[0] > 0
    nothing = np.int64(-1)  # a literal would be a type of its own to numba
    # of two log-likelihoods, and of the prices of a walk
    rounding = 4e-16 * (weights.edges.size + 4) * (heaviest + limit) * world.horizon
    for i in range(keys.size):
        begin(world, keys[i], run)
        trace = record.trace[i]
        forgotten[:] = 0
        copy_vector(weights.at_start[run.clock[FIRST_STATE]], first)
        copy_vector(first, logs)
        alive[:] = True
        record.resets[i] += _drop(alive, logs, first, run, forgotten, limit)
        _note(record, i, alive, run.clock[STEPS])
        slack = 0.0
        k = best_alive(plans, alive)
        set_course(world, plans.policy[k], course)
        dear = _set_prices(weights, alive, price)
        final = _is_final(world, run, course, plans, alive, k, price, states, edges)
        since, ask_after = 0, FIRST_ASKED
        if final:
            record.identified[i] = 0
        while run.clock[STEPS] < world.horizon:
            done = run.clock[STEPS]
            if final and lazy and tails.sums.shape[0] > 0 and done < world.early:
                leave_to_expectation(world, run, tails, plans.tail_of[k])
                break
            edge: Integer = nothing
            steps = world.horizon - done
            if not final:
                steps = min(steps, since + ask_after - done)
            if lazy and not dear:
                play(world, run, course, steps, grid, trace)
            elif lazy:
                room = limit - _spread(alive, logs) - rounding
                edge = play_within(
                    world, run, course, steps, price, room, grid, trace
                )  # fmt: skip
            else:
                row = course.rows[run.clock[STATE]]
                edge = step_with(world, run, row, grid, trace)
            log_likelihoods(first, run.counts, forgotten, weights, logs)
            copy_vector(alive, before)
            resets = _drop(alive, logs, first, run, forgotten, limit)
            changed = resets > 0
            for m in range(members):
                changed |= alive[m] != before[m]
            if changed:
                record.resets[i] += resets
                if checks and record.eliminated[i, member] < 0:
                    # while the truth survives: what the dropped had seen before
                    truth_lives = alive[member]
                    for m in range(members):
                        if before[m] and not (alive[m] and truth_lives):
                            slack = max(slack, _told_apart(loss[m], run, edge))
                _note(record, i, alive, run.clock[STEPS])
                best = best_alive(plans, alive)
                if best != k:
                    k = best
                    record.switches[i] += 1
                    set_course(world, plans.policy[k], course)
                dear = _set_prices(weights, alive, price)
                since, ask_after = run.clock[STEPS], FIRST_ASKED
            elif not final and run.clock[STEPS] - since == ask_after:
                ask_after *= LATER_ASKED
            else:
                continue
            if not final:
                final = _is_final(
                    world, run, course, plans, alive, k, price, states, edges
                )
                if final:
                    record.identified[i] = run.clock[STEPS]
        if checks:
            if record.eliminated[i, member] < 0:
                for m in range(members):
                    if alive[m]:
                        slack = max(slack, _told_apart(loss[m], run, nothing))
            record.slack[i] = slack / (1.5 * limit)
        finish(world, run, record, i)


@kernel
def _drop(
    alive: BoolArray, logs: FloatArray, first: FloatArray, run: Run,
    forgotten: OffsetArray, limit: float,
) -> int:  # fmt: skip
    """Drop whom the likeliest survivor outdoes, and return how often nobody was left.

    If nobody is left, all possible models come back; if there is none, everything seen
    so far is forgotten.
    """
    if _outdone(alive, logs, limit):
        return 0
    possible = False
    for m in range(alive.size):
        alive[m] = logs[m] > -np.inf
        possible |= alive[m]
    if not possible:
        copy_vector(run.counts, forgotten)
        first[:] = 0.0
        logs[:] = 0.0
        alive[:] = True
    _outdone(alive, logs, limit)
    return 1


@kernel
def _outdone(alive: BoolArray, logs: FloatArray, limit: float) -> bool:
    """Drop by the limit; returns whether some survivor is possible (else: as was)."""
    most = -np.inf
    for m in range(alive.size):
        if alive[m] and logs[m] > most:
            most = logs[m]
    if most == -np.inf:
        return False
    for m in range(alive.size):
        if alive[m] and most - logs[m] >= limit:
            alive[m] = False
    return True


@kernel
def _note(record: Record, at: int, alive: BoolArray, step: int) -> None:
    for m in range(alive.size):
        if not alive[m] and record.eliminated[at, m] < 0:
            record.eliminated[at, m] = step


@kernel
def _spread(alive: BoolArray, logs: FloatArray) -> float:
    """Return how far survivors are apart; infinitely far if one is impossible."""
    most, least = -np.inf, np.inf
    for m in range(alive.size):
        if alive[m]:
            most, least = max(most, logs[m]), min(least, logs[m])
    return np.inf if least == -np.inf else most - least


@kernel
def _set_prices(weights: Weights, alive: BoolArray, price: FloatArray) -> bool:
    """Write by how much an edge can move two survivors apart; return if any can."""
    price[:] = 0.0
    dear = False
    for j in range(weights.edges.size):
        spread = _spread(alive, weights.weight[j])
        price[weights.edges[j]] = spread
        dear |= spread > 0.0
    return dear


@kernel
def _is_final(
    world: World, run: Run, course: Course, plans: Plans, alive: BoolArray,
    k: Integer, price: FloatArray, states: BoolArray, edges: BoolArray,
) -> bool:  # fmt: skip
    """Return whether the actions from here on are those of k, come what may.

    They are if all survivors play alike within reach, and no edge within reach is
    impossible for a survivor: then there is always a survivor.
    """
    reach(course, world.shift, run.clock[STATE], states, edges)
    for e in range(edges.size):
        if edges[e] and price[e] == np.inf:
            return False
    for s in range(states.size):
        if states[s]:
            for m in range(alive.size):
                if alive[m] and plans.policy[m, s] != plans.policy[k, s]:
                    return False
    return True


@kernel
def _told_apart(loss: FloatArray, run: Run, last: Integer) -> float:
    """Return the sum of -log BC over the steps taken, but for the one along `last`."""
    total = 0.0
    for e in range(loss.size):
        n = run.counts[e] - (1 if e == last else 0)
        if n > 0 and loss[e] > 0.0:
            total += n * loss[e]
    return total
