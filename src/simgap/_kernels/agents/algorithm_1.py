"""Algorithm 1 compiled: travel, sample, compare, and then the survivor's own policy.

Comparisons are computed from integer counts in one fixed order. Between two looks the
walk goes on for as many samples (or steps) as no log-ratio can need less of to reach
its threshold; an edge that is impossible in a model under comparison stops it at once.
The answer is the same, bit for bit, as with a look at every step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap._kernels.agents.algorithm_2 import (
    LEADER,
    Room,
    Search,
    collect,
    hand_over,
    set_out,
)
from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.walking.endings import leave_to_optimum, play_rules
from simgap._kernels.walking.streams import uniform
from simgap._kernels.walking.walk import (
    STATE,
    STEPS,
    Record,
    Run,
    World,
    begin,
    finish,
    new_course,
    new_run,
    whole_steps,
)
from simgap.arrays import AnyArray, BoolArray, FloatArray, IndexArray, OffsetArray

FIXED, SPRT, ANYTIME = 0, 1, 2


class Ending(NamedTuple):
    """What stage 2 knows: the rules of all models, and W of the real one."""

    known: OffsetArray  # (M,)
    period: OffsetArray  # (M,)
    first: OffsetArray  # (M + 1,), runs of a model
    since: OffsetArray  # (K,)
    rules: IndexArray  # (K, S)
    worth: FloatArray  # (N + 1, S) of the real model, or (0, S): then it is played
    drift: float


@kernel(allocates=True)
def run_elimination(
    world: World,
    member: int,
    keys: AnyArray,
    search: Search,
    ending: Ending,
    kind: int,
    threshold: float,
    all_travel: bool,
    random_pairs: bool,
    literal: bool,
    lazy: bool,
    grid: OffsetArray,
    record: Record,
) -> None:
    """Run one episode of Algorithm 1 for every key."""
    members, n_edges = search.logs.shape
    n_states = search.place.size
    n_actions = (world.indptr.size - 1) // n_states
    run, course = new_run(world), new_course(world)
    room = Room(
        np.ones(members, np.bool_),
        np.zeros(n_edges, np.bool_),
        np.zeros(n_edges, np.int64),
        np.zeros(4, np.int64),
        np.zeros(n_states, np.int64),
        np.zeros(n_states, np.int32),
        course,
        np.zeros(members, np.int64),
        np.zeros(members),
    )
    alive = np.ones(members, np.bool_)
    for i in range(keys.size):
        begin(world, keys[i], run)
        trace = record.trace[i]
        if random_pairs:
            for one in range(members):
                for other in range(members):
                    place = one * members + other
                    search.apart[one, other] = uniform(run.stream[2], place)
        alive[:] = True
        left = members
        first = run.clock[STATE]
        if kind == ANYTIME:  # the first state is evidence
            left -= _drop(
                search, run, first, threshold, alive, room, record.eliminated[i]
            )
        while (left > 1 or literal) and run.clock[STEPS] < world.horizon:
            left -= _round(
                world, run, search, first, kind, threshold, all_travel, literal, lazy,
                n_actions, alive, room, grid, trace, record, i,
            )  # fmt: skip
        if left == 1 and not literal:
            record.identified[i] = run.clock[STEPS]
            best, _ = _pair(alive, search.apart)
            if best == member and ending.worth.shape[0] > 0 and grid.size == 0:
                leave_to_optimum(
                    world, run, ending.period[best], ending.drift, ending.worth
                )
            else:
                runs = slice(ending.first[best], ending.first[best + 1])
                play_rules(
                    world, run, course, ending.known[best], ending.period[best],
                    ending.since[runs], ending.rules[runs], grid, trace,
                )  # fmt: skip
        finish(world, run, record, i)


@kernel
def _pair(alive: BoolArray, apart: FloatArray) -> tuple[int, int]:
    """Return the two candidates to compare: the lowest, or those greatest in `apart`.

    One candidate that is alone is returned twice (errata E10).
    """
    one, other = -1, -1
    for i in range(alive.size):
        if alive[i]:
            if one < 0:
                one, other = i, i
            for j in range(i + 1, alive.size):
                if alive[j]:
                    if apart.shape[0] == 0:
                        return i, j
                    if one == other or apart[i, j] > apart[one, other]:
                        one, other = i, j
                    if apart[j, i] > apart[one, other]:
                        one, other = j, i
    return one, other


@kernel
def _round(
    world: World, run: Run, search: Search, first: int, kind: int, threshold: float,
    all_travel: bool, literal: bool, lazy: bool, n_actions: int, alive: BoolArray,
    room: Room, grid: OffsetArray, trace: FloatArray, record: Record, at: int,
) -> int:  # fmt: skip
    """Compare two candidates until one is dropped; return how many models were."""
    one, other = _pair(alive, search.apart)
    row, enough = search.row[one, other], search.samples[one, other]
    room.travels[:] = True
    if not all_travel:
        copy_vector(alive, room.travels)
    set_out(world, run, search, row, n_actions, literal, room)
    edges = world.indptr[row : row + 2]
    steepest = _begin_tally(search, one, other, edges, room)
    if kind == ANYTIME:
        _set_alarms(search, alive, room)
    dropped = np.int64(0)
    taken = np.int64(0)
    ratio = 0.0
    while run.clock[STEPS] < world.horizon:  # errata E14
        samples, steps = enough - taken, world.horizon
        if not lazy:
            samples, steps = 1, 1
        elif kind == SPRT:
            # rounding of a sum of so many terms, and of this estimate
            size = 4e-16 * (edges[1] - edges[0] + 8)
            spare = 1e-9 * threshold + size * (taken + 1) * steepest
            leeway = threshold - abs(ratio) - spare
            samples = min(samples, 1 + whole_steps(leeway / max(steepest, 1e-300)))
        elif kind == ANYTIME:
            steps = 1 + _free_steps(search, alive, threshold, room)
        taken += collect(
            world, run, search, row, n_actions, samples, steps, kind != FIXED, literal,
            room, grid, trace,
        )  # fmt: skip
        if kind == ANYTIME:
            gone = _drop(
                search, run, first, threshold, alive, room, record.eliminated[at]
            )
            dropped += gone
            if gone > 0:
                record.switches[at] += 1
            if not alive[one] or not alive[other]:
                break
            if gone > 0:
                _set_alarms(search, alive, room)
                leader = room.trip[LEADER]
                if not all_travel:
                    copy_vector(alive, room.travels)
                    if leader >= 0 and not alive[leader]:
                        hand_over(run, search, row // n_actions, leader, room)
            continue
        ratio = _log_ratio(search, one, other, edges, room.tally, literal)
        if taken >= enough or (kind == SPRT and abs(ratio) >= threshold):
            if one != other:  # errata E10: compared with itself, the last one stays
                loser = other if ratio >= 0.0 else one
                alive[loser] = False
                record.eliminated[at, loser] = run.clock[STEPS]
                record.switches[at] += 1
                dropped += 1
            break
    return dropped  # type: ignore[return-value]


@kernel
def _begin_tally(
    search: Search, one: int, other: int, edges: OffsetArray, room: Room
) -> float:
    """Return how fast one sample can move the ratio; impossible ones are alarming."""
    room.alarming[:] = False
    steepest = 0.0
    for e in range(edges[0], edges[1]):
        room.tally[e] = 0
        gone, other_gone = search.impossible[one, e], search.impossible[other, e]
        if gone != other_gone:
            room.alarming[e] = True
        elif not gone:
            slope = abs(search.logs[one, e] - search.logs[other, e])
            steepest = max(steepest, slope)
    return steepest


@kernel
def _log_ratio(
    search: Search, one: int, other: int, edges: OffsetArray, tally: OffsetArray,
    literal: bool,
) -> float:  # fmt: skip
    """Return the log-likelihood ratio of two models on the samples of a row."""
    against_one, against_other = 0, 0
    total = 0.0
    for e in range(edges[0], edges[1]):
        n = tally[e]
        if n > 0:
            if literal:
                n = 1  # errata E11: a set keeps one of each
            gone, other_gone = search.impossible[one, e], search.impossible[other, e]
            if gone:
                against_one += n
            if other_gone:
                against_other += n
            if not gone and not other_gone:
                each = search.logs[one, e] - search.logs[other, e]
                total += n * each
    if against_one != against_other:
        return -np.inf if against_one > against_other else np.inf
    return total


@kernel
def _drop(
    search: Search, run: Run, first: int, threshold: float, alive: BoolArray,
    room: Room, eliminated: OffsetArray,
) -> int:  # fmt: skip
    """Drop every candidate that another one beats by the threshold."""
    fewest = np.int64(2**62)
    best = -np.inf
    for m in range(alive.size):
        if alive[m]:
            against = np.int64(1) if search.first_impossible[m, first] else np.int64(0)
            total = search.first_logs[m, first]
            for e in search.informative:
                n = run.counts[e]
                if n > 0:
                    if search.impossible[m, e]:
                        against += n
                    total += n * search.logs[m, e]
            room.against[m] = against
            room.likelihood[m] = total
            if against < fewest or (against == fewest and total > best):
                fewest, best = against, total
    dropped = 0
    for m in range(alive.size):
        behind = best - room.likelihood[m] >= threshold
        if alive[m] and (room.against[m] > fewest or behind):
            alive[m] = False
            eliminated[m] = run.clock[STEPS]
            dropped += 1
    return dropped


@kernel
def _free_steps(search: Search, alive: BoolArray, threshold: float, room: Room) -> int:
    """Return for how many steps no candidate can be dropped, alarms apart."""
    best = -np.inf
    steepest = 0.0
    for m in range(alive.size):
        if alive[m]:
            best = max(best, room.likelihood[m])
            steepest = max(steepest, search.steepest[m])
    free = 1e15
    # logs are at most 0: a sum of them rounds by a part of itself, now and later
    size = 4e-16 * (search.informative.size + 8)
    later = 2.0 * size * steepest + 1e-300
    for m in range(alive.size):
        if alive[m]:
            mine = room.likelihood[m]
            leeway = (1.0 - 1e-9) * threshold + mine + size * (mine + best)
            if (leeway - best) / (search.steepest[m] + later) >= free:
                continue  # cannot be the next one
            for rival in range(alive.size):
                if alive[rival] and rival != m:
                    slope = search.slopes[rival, m] + later
                    free = min(free, (leeway - room.likelihood[rival]) / slope)
    return whole_steps(free)


@kernel
def _set_alarms(search: Search, alive: BoolArray, room: Room) -> None:
    room.alarming[:] = False
    for e in search.informative:
        for m in range(alive.size):
            if alive[m] and search.impossible[m, e]:
                room.alarming[e] = True
