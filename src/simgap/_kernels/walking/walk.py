"""Walking through a real model: draws, counts, and what is lost on the way.

A `World` holds the tables of one real model. An *edge* is one thing that can happen in
a row (s, a): a next state, or a next state with a reward if rewards are seen. A row has
2^shift cells; one 64-bit number picks a cell with its high bits and one of the cell's
two edges with the rest (Walker's alias method in fixed point: probabilities are met to
2^-60). Draw h of an episode is a function of the episode's key and h alone, so policies
that are compared use the same random streams, and neither threads nor the order of runs
matter.

Everything a run leaves behind follows from integer counts of edges. Only the last steps
of an episode, whose losses depend on the time left, are added up one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from simgap._kernels.compiled import kernel
from simgap._kernels.walking.streams import mixed, scrambled, uniform
from simgap.arrays import AnyArray, FloatArray, IndexArray, Integer, OffsetArray

LOW = np.uint64(0xFFFFFFFF)
S32, S64, ONE = np.uint64(32), np.uint64(64), np.uint64(1)
STEPS, STATE, MARK, FIRST_STATE = 0, 1, 2, 3  # of a clock
LATE, JUNCTION, TAIL = 0, 1, 2  # of sums
NEVER = 2**62  # steps


class World(NamedTuple):
    """One real model for episodes of `horizon` steps; E edges, w = 2^shift."""

    indptr: OffsetArray  # (S A + 1,), edges of a row
    next_state: IndexArray  # (E,)
    cuts: AnyArray  # uint64 (S A w,), below it a cell gives its first edge
    cells: AnyArray  # uint64 (S A w 2,), edge << 32 | next state
    shift: int
    reward: FloatArray  # (E,), what the step pays
    excess: FloatArray  # (E,), rho + l - R - P l at the row of the edge
    potential: FloatArray  # (S,), l
    late_potential: FloatArray  # (S,), of the state in which the last steps begin
    late_excess: FloatArray  # (L, S A), by steps left - 1
    early: int  # steps before the last ones
    horizon: int
    gain: float  # rho
    start_law: FloatArray  # (S,)
    ahead: FloatArray  # (S,), V*_H - H rho - l: what the gap is besides its sums


class Course(NamedTuple):
    """The rows of a world that one deterministic stationary policy uses."""

    cuts: AnyArray  # uint64 (S w,)
    cells: AnyArray  # uint64 (S w 2,)
    rows: OffsetArray  # (S,)


class Run(NamedTuple):
    """Where one episode is, and what it has counted."""

    clock: OffsetArray  # (4,): steps done, state, next mark of the grid, first state
    counts: OffsetArray  # (E,)
    sums: FloatArray  # (3,): late losses, losses before them, rewards of the tail
    stream: AnyArray  # uint64 (3,): key and stride of the world, key of the agent


class Record(NamedTuple):
    """What n finished episodes leave behind, one entry or row each."""

    reward: FloatArray  # (n,), sum of rewards
    gap: FloatArray  # (n,), unbiased for V*_1 - V^pi_1
    regret: FloatArray  # (n,), unbiased for H rho - sum of rewards
    bound: FloatArray  # (n,), pathwise bound of H rho - sum of rewards, or NaN
    slack: FloatArray  # (n,), greatest ratio of a checked inequality, or NaN
    switches: OffsetArray  # (n,)
    resets: OffsetArray  # (n,), how often no candidate was left
    identified: OffsetArray  # (n,), step at which the plan was final, or -1
    simulated: OffsetArray  # (n,), steps that were drawn
    eliminated: OffsetArray  # (n, M), step at which a model was first dropped, or -1
    trace: FloatArray  # (n, G), regret at the marks of the grid
    final_state: OffsetArray  # (n,)


@kernel(allocates=True)
def new_run(world: World) -> Run:
    """Return room for one run; `begin` puts it at a start."""
    return Run(
        np.zeros(4, np.int64),
        np.zeros(world.next_state.size, np.int64),
        np.zeros(3),
        np.zeros(3, np.uint64),
    )


@kernel(allocates=True)
def new_course(world: World) -> Course:
    """Return room for one course; `set_course` makes it that of a policy."""
    n_states, width = world.potential.size, 1 << world.shift
    return Course(
        np.empty(n_states * width, np.uint64),
        np.empty(2 * n_states * width, np.uint64),
        np.empty(n_states, np.int64),
    )


@kernel
def set_course(world: World, policy: IndexArray, course: Course) -> None:
    """Make the course that of a policy (S,)."""
    n_actions = (world.indptr.size - 1) // policy.size
    width = 1 << world.shift
    for s in range(policy.size):
        row = s * n_actions + policy[s]
        course.rows[s] = row
        for c in range(width):
            course.cuts[s * width + c] = world.cuts[row * width + c]
        for c in range(2 * width):
            course.cells[2 * s * width + c] = world.cells[2 * row * width + c]


@kernel
def whole_steps(value: float) -> int:
    """Return the whole steps in a number, none below 1 and at most 1e15."""
    if value < 1.0:
        return 0
    return np.int64(min(value, 1e15))  # type: ignore[return-value]


@kernel
def begin(world: World, key: Integer, run: Run) -> None:
    """Put a run at the start of the episode with this key."""
    run.counts[:] = 0
    run.sums[:] = 0.0
    for i in range(3):
        run.stream[i] = mixed(key, i)
    run.stream[1] |= ONE  # every episode has a stride of its own
    quantile = uniform(key, np.int64(3))
    state = 0
    total = 0.0
    for s in range(world.start_law.size):
        if world.start_law[s] > 0.0:
            total += world.start_law[s]
            state = s
            if quantile < total:
                break
    run.clock[STEPS] = 0
    run.clock[STATE] = state
    run.clock[MARK] = 0
    run.clock[FIRST_STATE] = state
    if world.early == 0:
        _join(world, run)


@kernel
def play(
    world: World, run: Run, course: Course, steps: int, grid: OffsetArray,
    trace: FloatArray,
) -> None:  # fmt: skip
    """Follow a course for a number of steps."""
    nobody = run.clock[:0]  # no target, no quota
    play_until(world, run, course, steps, -1, nobody, grid, trace)


@kernel
def play_until(
    world: World, run: Run, course: Course, steps: int, target: int,
    quota: OffsetArray, grid: OffsetArray, trace: FloatArray,
) -> None:  # fmt: skip
    """Follow a course for at most a number of steps.

    Stops in state `target` (even before the first step), and in a state whose quota of
    actions is used up; -1 and an empty array do not stop. Quotas are counted down.
    """
    left = steps
    while left > 0:
        done = run.clock[STEPS]
        stretch = min(left, next_mark(run.clock, grid) - done)
        if done < world.early:
            stretch = min(stretch, world.early - done)
            if target >= 0 or quota.size > 0:
                walked = _walk_until(world, run, course, stretch, target, quota)
            else:
                walked = stretch
                run.clock[STATE] = walk(
                    course.cuts, course.cells, world.shift, run.stream, done,
                    run.clock[STATE], stretch, run.counts,
                )  # fmt: skip
        else:
            walked = _walk_late(world, run, course, stretch, target, quota)
        run.clock[STEPS] = done + walked
        left -= walked
        if walked > 0 and done + walked == world.early:
            _join(world, run)
        _mark(world, run, grid, trace)
        if walked < stretch:
            return


@kernel
def walk(
    cuts: AnyArray,
    cells: AnyArray,
    shift: int,
    stream: AnyArray,
    done: int,
    first: int,
    steps: Integer,
    counts: OffsetArray,
) -> int:
    """Take a number of steps, count the edges and return the state."""
    up = uint64(shift)
    stride = stream[1]
    bits = stream[0] + stride * uint64(done)
    state = uint64(first)
    for _ in range(steps):
        bits += stride
        cell = drawn_cell(cuts, cells, up, bits, state)
        counts[cell >> S32] += 1
        state = cell & LOW
    return np.int64(state)  # type: ignore[return-value]


@kernel
def drawn_cell(
    cuts: AnyArray, cells: AnyArray, shift: np.uint64, bits: np.uint64, row: np.uint64
) -> np.uint64:
    """Return the edge and the next state that 64 bits pick in a row of tables."""
    draw = scrambled(bits)
    at = (row << shift) | (draw >> (S64 - shift))
    return cells[(at << ONE) + uint64((draw << shift) >= cuts[at])]  # type: ignore[no-any-return]


@kernel
def _walk_until(
    world: World, run: Run, course: Course, steps: int, target: int,
    quota: OffsetArray,
) -> int:  # fmt: skip
    cuts, cells, counts = course.cuts, course.cells, run.counts
    up = uint64(world.shift)
    stride = run.stream[1]
    bits = run.stream[0] + stride * uint64(run.clock[STEPS])
    state = uint64(run.clock[STATE])
    goal = uint64(target) if target >= 0 else ~uint64(0)
    limited = quota.size > 0
    walked = steps
    for i in range(steps):
        if state == goal:
            walked = i
            break
        if limited:
            if quota[state] <= 0:
                walked = i
                break
            quota[state] -= 1
        bits += stride
        cell = drawn_cell(cuts, cells, up, bits, state)
        counts[cell >> S32] += 1
        state = cell & LOW
    run.clock[STATE] = np.int64(state)
    return walked


@kernel
def _walk_late(
    world: World, run: Run, course: Course, steps: int, target: int,
    quota: OffsetArray,
) -> int:  # fmt: skip
    state = run.clock[STATE]
    done = run.clock[STEPS]
    for i in range(steps):
        if state == target:
            run.clock[STATE] = state
            return i
        if quota.size > 0:
            if quota[state] <= 0:
                run.clock[STATE] = state
                return i
            quota[state] -= 1
        row = course.rows[state]
        run.sums[LATE] += world.late_excess[world.horizon - done - i - 1, row]
        state = walk(
            course.cuts, course.cells, world.shift, run.stream, done + i, state,
            np.int64(1), run.counts,
        )  # fmt: skip
    run.clock[STATE] = state
    return steps


@kernel
def step_with(
    world: World, run: Run, row: int, grid: OffsetArray, trace: FloatArray
) -> int:
    """Take one step in a row (s, a) and return its edge."""
    done = run.clock[STEPS]
    bits = run.stream[0] + run.stream[1] * (uint64(done) + ONE)
    cell = drawn_cell(world.cuts, world.cells, uint64(world.shift), bits, uint64(row))
    edge = np.int64(cell >> S32)
    run.counts[edge] += 1
    if done >= world.early:
        run.sums[LATE] += world.late_excess[world.horizon - done - 1, row]
    state = np.int64(cell & LOW)
    run.clock[STATE] = state
    run.clock[STEPS] = done + 1
    if done + 1 == world.early:
        _join(world, run)
    _mark(world, run, grid, trace)
    return edge  # type: ignore[return-value]


@kernel
def lost_so_far(world: World, run: Run) -> float:
    """Return the sum of rho + l - R - P l over the steps taken."""
    total = 0.0
    for e in range(run.counts.size):
        total += run.counts[e] * world.excess[e]
    return total


@kernel
def regret_so_far(world: World, run: Run) -> float:
    """Return sum Delta + l(s) - l(s_1): unbiased for t rho - sum of rewards."""
    here, first = run.clock[STATE], run.clock[FIRST_STATE]
    lost = lost_so_far(world, run)
    total: float = lost + world.potential[here] - world.potential[first]
    return total


@kernel
def _join(world: World, run: Run) -> None:
    """Close the account of the early steps where the last ones begin."""
    state = run.clock[STATE]
    change = world.potential[state] - world.late_potential[state]
    run.sums[JUNCTION] = lost_so_far(world, run) + change


@kernel
def finish(world: World, run: Run, record: Record, at: int) -> None:
    """Write what follows from the counts of a finished run.

    A run may have left its last steps to their expectation: TAIL is then the reward
    above rho per step that is expected from where it stopped on.
    """
    reward = 0.0
    for e in range(run.counts.size):
        reward += run.counts[e] * world.reward[e]
    done, first = run.clock[STEPS], run.clock[FIRST_STATE]
    tail = run.sums[TAIL]
    record.reward[at] = reward + (world.horizon - done) * world.gain + tail
    record.regret[at] = regret_so_far(world, run) - tail
    if done < world.early:  # stopped early: the tail stands for the last steps too
        here = world.potential[run.clock[STATE]]
        record.gap[at] = world.ahead[first] + lost_so_far(world, run) + here - tail
    else:
        record.gap[at] = world.ahead[first] + run.sums[JUNCTION] + run.sums[LATE]
    record.simulated[at] = done
    record.final_state[at] = run.clock[STATE]


@kernel
def close_stretch(
    world: World, run: Run, walked: int, grid: OffsetArray, trace: FloatArray
) -> None:
    """Advance the clock after steps that an agent drew itself.

    Such a stretch must not pass `world.early` or the next mark of the grid.
    """
    done = run.clock[STEPS] + walked
    run.clock[STEPS] = done
    if walked > 0 and done == world.early:
        _join(world, run)
    _mark(world, run, grid, trace)


@kernel
def next_mark(clock: OffsetArray, grid: OffsetArray) -> int:
    """Return the step after which the regret is noted next; if none, beyond all."""
    return grid[clock[MARK]] if clock[MARK] < grid.size else NEVER


@kernel
def _mark(world: World, run: Run, grid: OffsetArray, trace: FloatArray) -> None:
    """Note the regret if it is due."""
    if run.clock[STEPS] == next_mark(run.clock, grid):
        trace[run.clock[MARK]] = regret_so_far(world, run)
        run.clock[MARK] += 1
