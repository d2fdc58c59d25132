"""Algorithm 2 compiled: travel to a pair (s0, a0) and count what follows it.

The first model of the travel set leads again after every sample. While it does, the
agent follows one stationary course, its way to s0 and a0 there, and all that has to be
kept is the number of samples and the steps for which it still leads: that is most of
the time, and it is walked as fast as any course. Turns of other models, the last steps
of an episode and the printed rule go step by step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from simgap._kernels.compiled import kernel
from simgap._kernels.walking.walk import (
    LATE,
    LOW,
    S32,
    STATE,
    STEPS,
    Course,
    Run,
    World,
    close_stretch,
    drawn_cell,
    next_mark,
    set_course,
)
from simgap.arrays import BoolArray, FloatArray, IndexArray, Integer, OffsetArray

LEADER, LEFT = 0, 1  # of a trip: the model that leads, -1 at the target; its steps left
COURSE_OF, COURSE_ROW = 2, 3  # the model and the row that the course was made for
FOREVER = 2**40
NOBODY = np.int64(-1)  # led before


class Search(NamedTuple):
    """What stage 1 knows: where models are compared and how one gets there."""

    row: OffsetArray  # (M, M), s0 A + a0
    samples: OffsetArray  # (M, M), after which a round ends in any case
    place: OffsetArray  # (S,), of a target in the tables of ways
    ways: IndexArray  # (T, M, S), actions
    steady: int  # steps for which a model leads, or 0
    lead: IndexArray  # (T, M, S), the same by where it takes over, or (0, 0, 0)
    logs: FloatArray  # (M, E)
    impossible: BoolArray  # (M, E)
    informative: OffsetArray  # (I,)
    first_logs: FloatArray  # (M, S)
    first_impossible: BoolArray  # (M, S)
    slopes: FloatArray  # (M, M), how fast one step can favour one model over another
    steepest: FloatArray  # (M,), the same over any model
    apart: FloatArray  # (M, M), the greater the sooner they are compared, or (0, 0)


class Room(NamedTuple):
    """Scratch memory of one run."""

    travels: BoolArray  # (M,), the travel set
    alarming: BoolArray  # (E,), an edge after which somebody must look
    tally: OffsetArray  # (E,), samples of this round
    trip: OffsetArray  # (4,)
    allowed: OffsetArray  # (S,), steps for which the first model leads from a state
    policy: IndexArray  # (S,), its way, and a0 in s0
    course: Course  # of that policy
    against: OffsetArray  # (M,), impossible steps
    likelihood: FloatArray  # (M,), logarithm of the others


@kernel
def set_out(
    world: World, run: Run, search: Search, row: int, n_actions: int, literal: bool,
    room: Room,
) -> None:  # fmt: skip
    """Begin a trip where the run is; at the target there is none to make (E13)."""
    here = run.clock[STATE] == row // n_actions
    if here and (not literal or search.place.size == 1):
        room.trip[LEADER] = -1
    else:
        hand_over(run, search, row // n_actions, NOBODY, room)
    room.trip[COURSE_OF] = -1


@kernel
def hand_over(run: Run, search: Search, target: int, last: Integer, room: Room) -> None:
    """Let the next model of the travel set lead from where the run is."""
    leader = _after(room, last)
    room.trip[LEADER] = leader
    room.trip[LEFT] = _turn(search, target, leader, run.clock[STATE])


@kernel
def _after(room: Room, last: Integer) -> int:
    for m in range(last + 1, room.travels.size):
        if room.travels[m]:
            return m
    for m in range(room.travels.size):
        if room.travels[m]:
            return m
    return 0


@kernel
def _turn(search: Search, target: int, leader: int, state: int) -> int:
    if search.steady > 0:
        return search.steady
    return np.int64(search.lead[search.place[target], leader, state])  # type: ignore[return-value]


@kernel
def collect(
    world: World, run: Run, search: Search, row: int, n_actions: int,
    most_samples: int, most_steps: int, watch: bool, literal: bool, room: Room,
    grid: OffsetArray, trace: FloatArray,
) -> int:  # fmt: skip
    """Travel to the row's state and take samples there; return how many.

    Ends with the number of samples or steps asked for, after an alarming edge if
    somebody watches, or with the episode.
    """
    first = _after(room, NOBODY)
    if not literal and (room.trip[COURSE_OF] != first or room.trip[COURSE_ROW] != row):
        _set_first(world, search, row, n_actions, first, room)
    samples = 0
    left = min(most_steps, world.horizon - run.clock[STEPS])
    while left > 0 and samples < most_samples:
        done = run.clock[STEPS]
        stretch = left
        early = done < world.early
        if early:
            stretch = min(stretch, world.early - done)
        stretch = min(stretch, next_mark(run.clock, grid) - done)
        more = most_samples - samples
        leader = room.trip[LEADER]
        if early and not literal and (leader < 0 or leader == first):
            walked, taken, alarm = _walk_with_first(
                world.shift, run, search, row // n_actions, first, more, stretch,
                watch, room,
            )  # fmt: skip
        else:
            walked, taken, alarm = _walk_in_turns(
                world, run, search, row, n_actions, first, more, stretch, watch,
                literal, early, room,
            )  # fmt: skip
        samples += taken
        left -= walked
        close_stretch(world, run, walked, grid, trace)
        if alarm:
            break
    return samples


@kernel
def _set_first(
    world: World, search: Search, row: int, n_actions: int, first: int, room: Room
) -> None:
    target = row // n_actions
    at = search.place[target]
    for s in range(room.policy.size):
        room.policy[s] = search.ways[at, first, s]
        room.allowed[s] = _turn(search, target, first, s)
    room.policy[target] = row % n_actions
    room.allowed[target] = FOREVER  # a sample that stays calls for nobody
    set_course(world, room.policy, room.course)
    room.trip[COURSE_OF], room.trip[COURSE_ROW] = first, row


@kernel
def _walk_with_first(
    shift: int, run: Run, search: Search, target: int, first: int, most_samples: int,
    steps: int, watch: bool, room: Room,
) -> tuple[int, int, bool]:  # fmt: skip
    """Sample, with the first model leading, until its turn ends; count by edge."""
    cuts, cells, counts = room.course.cuts, room.course.cells, run.counts
    tally, alarming, allowed = room.tally, room.alarming, room.allowed
    up = uint64(shift)
    stride = run.stream[1]
    bits = run.stream[0] + stride * uint64(run.clock[STEPS])
    state = uint64(run.clock[STATE])
    goal = uint64(target)
    rest = room.trip[LEFT] if room.trip[LEADER] >= 0 else np.int64(FOREVER)
    walked, samples = 0, 0
    alarm = False
    while walked < steps:
        sampled = state == goal
        bits += stride
        cell = drawn_cell(cuts, cells, up, bits, state)
        edge = cell >> S32
        counts[edge] += 1
        state = cell & LOW
        walked += 1
        fresh = allowed[state]
        rest = fresh if sampled else rest - 1
        samples += sampled
        tally[edge] += sampled
        if watch and alarming[edge]:
            alarm = True
            break
        if rest <= 0 or samples >= most_samples:
            break
    run.clock[STATE] = np.int64(state)
    room.trip[LEADER], room.trip[LEFT] = first, rest
    if state == goal:
        room.trip[LEADER] = -1
    elif rest <= 0:
        hand_over(run, search, target, first, room)
    return walked, samples, alarm


@kernel
def _walk_in_turns(
    world: World, run: Run, search: Search, row: int, n_actions: int, first: int,
    most_samples: int, steps: int, watch: bool, literal: bool, early: bool, room: Room,
) -> tuple[int, int, bool]:  # fmt: skip
    """The same whoever leads, in the last steps too; until the first leads again."""
    target = row // n_actions
    looks_first = not literal or search.place.size == 1
    ways = search.ways[search.place[target]]
    cuts, cells = world.cuts, world.cells
    up = uint64(world.shift)
    stride = run.stream[1]
    done = run.clock[STEPS]
    bits = run.stream[0] + stride * uint64(done)
    walked, samples = 0, 0
    alarm = False
    while walked < steps:
        state, leader = run.clock[STATE], room.trip[LEADER]
        sampled = leader < 0
        used = row if sampled else state * n_actions + ways[leader, state]
        if not early:
            steps_left = world.horizon - done - walked
            run.sums[LATE] += world.late_excess[steps_left - 1, used]
        bits += stride
        cell = drawn_cell(cuts, cells, up, bits, uint64(used))
        edge = cell >> S32
        run.counts[edge] += 1
        state = np.int64(cell & LOW)
        run.clock[STATE] = state
        walked += 1
        room.trip[LEFT] -= 1
        if sampled:
            room.tally[edge] += 1
            samples += 1
        # errata E13: print moves before it looks where it is
        if state == target and (looks_first or not sampled):
            room.trip[LEADER] = -1
        elif sampled or room.trip[LEFT] == 0:
            hand_over(run, search, target, leader, room)
        if watch and room.alarming[edge]:
            alarm = True
            break
        turns_over = room.trip[LEADER] < 0 or room.trip[LEADER] == first
        if samples >= most_samples or (early and not literal and turns_over):
            break
    return walked, samples, alarm
