"""Algorithm 4 compiled: long leaps, few looks at the score, and no switch too late.

*Looking late loses nothing.* While model k is played the mass of no pair falls
(`importance`, 1), so "some pair has fired" is false up to the step of the switch and
true from there on, in floating point too. The walk may leap as far as it likes. If
nothing has fired where it lands, nothing had fired on the way. If pairs have fired, the
walk goes back (its random numbers depend on the step alone) and halves the leap until
the first such step is found. Only pairs that had fired at the far end can have fired
before, so that halving looks at few of them. How far to leap is a guess; a bad guess
costs time and no more.

*When the plan is final.* Once no pair can fire before the horizon (`importance`, 2) the
rest of the run follows one stationary policy, and its reward can be left to its
expectation. Whether the walk stops there is decided from the past alone: where it leapt
and went back, a pair has fired before the horizon, and so it does not stop.

*What theory 4.7 promises* is checked on the way, as ratios that must not exceed 1:
4.7.2 at the end of every episode of k (the sum only grows within) while the real model
is in the confidence set, 4.7.3 and 4.7.4 at the end of the run. As long as the real
model stays in the set, rho_k >= rho*, and a path loses at most

    H rho* - sum of rewards <= sum of (f_k - f_*) + (f_* - y) + (l_k(s') - l_k(s)).

In an episode of n steps the first part is at most n Dl, and at most
sqrt(n (4 beta + alpha + Dl^2)) by Cauchy-Schwarz and the switching rule. The second is
the noise of the path, of mean zero, and the third telescopes.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from simgap._kernels.agents.importance import (
    Pairs,
    add_visits,
    find_near,
    find_suspects,
    look,
    may_fire,
    no_pairs,
    of_pair,
    suspect_fired,
)
from simgap._kernels.agents.known_class import Plans, best_alive
from simgap._kernels.agents.least_squares import (
    add_losses,
    find_alive,
    forget,
    merge,
    no_models,
)
from simgap._kernels.compiled import kernel
from simgap._kernels.walking.endings import Tails, leave_to_expectation
from simgap._kernels.walking.stretch import (
    Stretch,
    begin_stretch,
    count_visits,
    find_reachable,
    no_stretch,
    restore,
    save,
)
from simgap._kernels.walking.walk import (
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
    next_mark,
    play,
    set_course,
    walk,
)
from simgap.arrays import AnyArray, FloatArray, Integer, OffsetArray
from simgap.intervals import EPS

FIRED, EXPECTED, OVER = 0, 1, 2  # how an episode of k ends


class Fits(NamedTuple):
    """What Algorithm 4 knows of every model."""

    bias: FloatArray  # (M, S)
    mean: FloatArray  # (M, S, M), f_m(s, pi_k(s), l_k) by k, s, m
    outcome: FloatArray  # (M, E), y: l_k(s'), plus the reward if it is seen
    highest: FloatArray  # (M,), greatest bias of a state


class Rule(NamedTuple):
    """The constants of one agent, and what theory 4.7 makes of them."""

    ridge: float  # alpha
    radius: float  # beta
    width: float  # Dl
    most_sum: float  # of |f_k - f_*| over all steps (item 3)
    most_switches: float  # item 4
    defect: float  # of gain and bias, per step; NaN where rewards are unseen and differ
    literal: bool
    lazy: bool


@kernel(allocates=True)
def run_general(
    world: World,
    member: int,
    keys: AnyArray,
    plans: Plans,
    fits: Fits,
    rule: Rule,
    tails: Tails,
    grid: OffsetArray,
    record: Record,
) -> None:
    """Run one episode of Algorithm 4 for every key."""
    members, n_states = plans.policy.shape
    n_edges = world.next_state.size
    run, course = new_run(world), new_course(world)
    stretch = no_stretch(n_states, n_edges)
    pairs = no_pairs(members, n_states)
    models = no_models(members)
    most_mass = 8.0 * rule.radius + rule.ridge + rule.width * rule.width
    for i in range(keys.size):
        begin(world, keys[i], run)
        forget(pairs, models)
        k, left_alive, last_switch = np.int64(plans.order[0]), members, 0
        held = member >= 0
        bound, slack, total = 0.0, 0.0, 0.0
        while run.clock[STEPS] < world.horizon:
            set_course(world, plans.policy[k], course)
            begin_stretch(run, stretch)
            start, first = run.clock[STEPS], run.clock[STATE]
            mean, outcome = fits.mean[k], fits.outcome[k]
            end = _episode(
                world, run, course, stretch, pairs, mean, rule, tails.sums.size > 0,
                grid, record.trace[i],
            )  # fmt: skip
            if end == EXPECTED:
                leave_to_expectation(world, run, tails, plans.tail_of[k])
            add_visits(pairs, mean, stretch.visits)
            if held:
                # printed (errata E20), Z_new holds all data and Z some of it twice
                mass = of_pair(pairs.fresh, members, k, member)
                if not rule.literal:
                    mass += of_pair(pairs.settled, members, k, member)
                slack = max(slack, mass / most_mass)
                apart, chance = _against_real(
                    world.indptr, course.rows, run.counts, stretch, mean, outcome, k,
                    member,
                )  # fmt: skip
                total += apart
                n, height = run.clock[STEPS] - start, fits.bias[k, run.clock[STATE]]
                if end == EXPECTED:
                    n, height = world.horizon - start, fits.highest[k]
                bound += chance + height - fits.bias[k, first]
                bound += n * rule.defect + _most_apart(rule, n)
            if end != FIRED:
                break
            record.switches[i] += 1
            last_switch = run.clock[STEPS]
            add_losses(
                world.indptr, course.rows, run.counts, stretch.before, mean, outcome,
                models,
            )  # fmt: skip
            merge(pairs, models, rule.literal)
            left_alive = find_alive(pairs.settled, models, rule.radius)
            for m in range(members):
                if not models.alive[m] and record.eliminated[i, m] < 0:
                    record.eliminated[i, m] = last_switch
            k = best_alive(plans, models.alive)
            held = held and models.alive[member]
        if held:
            slack = max(slack, total / rule.most_sum)
        if record.switches[i] > 0:
            slack = max(slack, record.switches[i] / max(rule.most_switches, 1e-300))
        record.slack[i] = slack
        record.bound[i] = bound if held and not rule.literal else np.nan
        if left_alive == 1:
            record.identified[i] = last_switch
        finish(world, run, record, i)


@kernel
def _episode(
    world: World,
    run: Run,
    course: Course,
    stretch: Stretch,
    pairs: Pairs,
    mean: FloatArray,
    rule: Rule,
    may_stop: bool,
    grid: OffsetArray,
    trace: FloatArray,
) -> int:
    """Play model k to the first step at which a pair fires, or as far as needed."""
    left = int(world.horizon - run.clock[STEPS])
    find_reachable(course, world.shift, run.clock[STATE], stretch.reachable)
    near, steepest = find_near(
        pairs, mean, stretch.reachable, rule.ridge, left, not rule.lazy
    )
    cost = 16.0 + near * mean.shape[0] / 16.0  # of a look, in steps
    n, gone, suspects = 0, 0.0, near
    behind = 0  # a suspect has fired so many steps from here, if not before
    while left > 0:
        leap, final = 1, False
        if behind > 0:
            leap = max(leap, behind // 2)
        elif rule.lazy:
            safe = (1.0 - gone) / max(steepest, 1e-300)
            final = near == 0 or (safe > left and not may_fire(pairs, near, left))
            wanted = min(3.0 * n + cost, n * (1.0 - gone) / max(gone, 1e-300))
            # stop short of the guess, unless looking costs more than the way
            wanted = 0.9 * wanted if wanted > 2.0 * cost else 1.1 * wanted
            wanted = max(1.0, safe, wanted if n > 0 else cost)
            leap = left if final else int(min(wanted, float(left)))
        if final and may_stop and run.clock[STEPS] < world.early:
            return EXPECTED
        plain = _plain_steps(world.early, run.clock, grid)
        if not rule.lazy and near > 0 and plain > 0:
            leap = _creep(
                course, world.shift, run, pairs, near, plain, n + mean.shape[0]
            )
        else:
            save(run, stretch)
            play(world, run, course, leap, grid, trace)
        count_visits(
            world.indptr, course.rows, run.counts, stretch.before, stretch.visits
        )
        fired = False
        if behind > 0:
            fired = suspect_fired(pairs, suspects, stretch.visits)
        elif not final:
            fired, gone = look(pairs, near, stretch.visits)
        if not fired:
            n += leap
            left -= leap
            behind = max(behind - leap, 0)
        elif leap == 1 or not rule.lazy:
            return FIRED
        else:
            if behind == 0:
                suspects = find_suspects(pairs, near)
            restore(run, stretch)
            behind = leap
    return OVER


@kernel
def _plain_steps(early: int, clock: OffsetArray, grid: OffsetArray) -> int:
    """Return how many steps come before one that is marked or late."""
    return int(min(early, next_mark(clock, grid)) - 1 - clock[STEPS])


@kernel
def _creep(
    course: Course,
    shift: int,
    run: Run,
    pairs: Pairs,
    near: int,
    steps: int,
    terms: int,
) -> int:
    """Walk with a look at all masses after every step, until one is about to fire.

    Running sums are within as many roundings of the masses as they have terms.
    """
    running, limit, one = pairs.mass, pairs.limit, np.int64(1)
    for step in range(steps):
        done, state = run.clock[STEPS], run.clock[STATE]
        run.clock[STATE] = walk(
            course.cuts, course.cells, shift, run.stream, done, state, one, run.counts
        )
        run.clock[STEPS] = done + 1
        apart, fired = pairs.apart[state], 0
        cut = 1.0 - 4.0 * (step + terms + 4) * EPS
        for q in range(near):
            running[q] += apart[q]
            fired += running[q] >= limit[q] * cut
        if fired > 0:
            return step + 1
    return steps


@kernel
def _against_real(
    indptr: OffsetArray,
    rows: OffsetArray,
    counts: OffsetArray,
    stretch: Stretch,
    mean: FloatArray,
    outcome: FloatArray,
    k: Integer,
    member: int,
) -> tuple[float, float]:
    """Return the sums of |f_k - f_*| and of f_* - y over the episode of k."""
    apart, chance = 0.0, 0.0
    for s in range(rows.size):
        apart += stretch.visits[s] * abs(mean[s, k] - mean[s, member])
        for e in range(indptr[rows[s]], indptr[rows[s] + 1]):
            n = counts[e] - stretch.before[e]
            chance += n * (mean[s, member] - outcome[e])
    return apart, chance


@kernel
def _most_apart(rule: Rule, n: int) -> float:
    """Return what bounds the sum of f_k - f_* over an episode of n steps."""
    mass = 4.0 * rule.radius + rule.ridge + rule.width * rule.width
    return min(n * rule.width, sqrt(n * mass))
