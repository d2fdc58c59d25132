"""Following a course until enough has happened, and where a course can lead.

A course draws with the tables of a world, so what can be drawn is read off them: the
first edge of a cell if its cut is positive, the second one always.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from simgap._kernels.compiled import kernel
from simgap._kernels.walking.walk import (
    LOW,
    S32,
    STATE,
    STEPS,
    Course,
    Run,
    World,
    drawn_cell,
    next_mark,
    step_with,
)
from simgap.arrays import AnyArray, BoolArray, FloatArray, Integer, OffsetArray


@kernel(allocates=True)
def play_within(
    world: World, run: Run, course: Course, steps: int, price: FloatArray,
    budget: float, grid: OffsetArray, trace: FloatArray,
) -> int:  # fmt: skip
    """Follow a course for at most a number of steps, each at the price of its edge.

    Stops after the step whose price uses up the budget. At least one step is taken;
    returns the last edge.
    """
    left = steps
    edge = -1
    spent = np.zeros(1)
    while left > 0:
        done = run.clock[STEPS]
        # steps at which more than counting is due are taken one by one
        plain = min(world.early, next_mark(run.clock, grid)) - 1 - done
        stretch = min(left, plain)
        if stretch > 0:
            edge = _walk_within(
                course.cuts, course.cells, world.shift, run.stream, run.clock,
                run.counts, stretch, price, budget, spent,
            )  # fmt: skip
        else:
            edge = step_with(world, run, course.rows[run.clock[STATE]], grid, trace)
            spent[0] += price[edge]
        if spent[0] >= budget:
            break
        left -= run.clock[STEPS] - done
    return edge


@kernel
def _walk_within(
    cuts: AnyArray, cells: AnyArray, shift: int, stream: AnyArray, clock: OffsetArray,
    counts: OffsetArray, steps: int, price: FloatArray, budget: float,
    spent: FloatArray,
) -> int:  # fmt: skip
    up = uint64(shift)
    stride = stream[1]
    bits = stream[0] + stride * uint64(clock[STEPS])
    state = uint64(clock[STATE])
    edge = uint64(0)
    paid = spent[0]
    walked = steps
    for i in range(steps):
        bits += stride
        cell = drawn_cell(cuts, cells, up, bits, state)
        edge = cell >> S32
        counts[edge] += 1
        state = cell & LOW
        paid += price[edge]
        if paid >= budget:
            walked = i + 1
            break
    spent[0] = paid
    clock[STATE] = np.int64(state)
    clock[STEPS] += walked
    return np.int64(edge)  # type: ignore[return-value]


@kernel(allocates=True)
def reach(
    course: Course, shift: int, first: Integer, states: BoolArray, edges: BoolArray
) -> None:
    """Mark the states and the edges that a course can come to from a state."""
    width = 1 << shift
    states[:] = False
    edges[:] = False
    waiting = np.empty(states.size, np.int64)
    waiting[0] = first
    states[first] = True
    count = 1
    while count > 0:
        count -= 1
        here = waiting[count]
        for at in range(here * width, (here + 1) * width):
            for side in range(2):
                if side == 0 and course.cuts[at] == uint64(0):
                    continue
                cell = course.cells[2 * at + side]
                edges[cell >> S32] = True
                after = np.int64(cell & LOW)
                if not states[after]:
                    states[after] = True
                    waiting[count] = after
                    count += 1
