"""A stretch of a run under one plan: what it has counted, and a way back.

A walk that leaps too far can be undone: clock, counts and sums are put back, and since
its random numbers depend on the step alone, it then takes the same steps again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.walking.walk import LOW, Course, Run
from simgap.arrays import BoolArray, FloatArray, OffsetArray

NEVER_FIRST, NEVER_SECOND = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)  # cuts


class Stretch(NamedTuple):
    """One plan's part of a run."""

    before: OffsetArray  # (E,), counts when it began
    visits: OffsetArray  # (S,), since then
    reachable: BoolArray  # (S,), from where it began
    clock: OffsetArray  # (4,), to go back to
    counts: OffsetArray  # (E,), to go back to
    sums: FloatArray  # (3,), to go back to


@kernel(allocates=True)
def no_stretch(n_states: int, n_edges: int) -> Stretch:
    """Return room for a stretch."""
    return Stretch(
        np.zeros(n_edges, np.int64),
        np.zeros(n_states, np.int64),
        np.zeros(n_states, np.bool_),
        np.zeros(4, np.int64),
        np.zeros(n_edges, np.int64),
        np.zeros(3),
    )


@kernel
def begin_stretch(run: Run, stretch: Stretch) -> None:
    """Count from here on."""
    for e in range(run.counts.size):
        stretch.before[e] = run.counts[e]
    for s in range(stretch.visits.size):
        stretch.visits[s] = 0


@kernel
def save(run: Run, stretch: Stretch) -> None:
    """Make this the place to go back to."""
    for i in range(run.clock.size):
        stretch.clock[i] = run.clock[i]
    for e in range(run.counts.size):
        stretch.counts[e] = run.counts[e]
    for i in range(run.sums.size):
        stretch.sums[i] = run.sums[i]


@kernel
def restore(run: Run, stretch: Stretch) -> None:
    """Put the run where it was saved."""
    for i in range(run.clock.size):
        run.clock[i] = stretch.clock[i]
    for e in range(run.counts.size):
        run.counts[e] = stretch.counts[e]
    for i in range(run.sums.size):
        run.sums[i] = stretch.sums[i]


@kernel
def count_visits(
    indptr: OffsetArray,
    rows: OffsetArray,
    counts: OffsetArray,
    before: OffsetArray,
    visits: OffsetArray,
) -> None:
    """Count the actions since a stretch began, by state."""
    for s in range(visits.size):
        total = 0
        for e in range(indptr[rows[s]], indptr[rows[s] + 1]):
            total += counts[e] - before[e]
        visits[s] = total


@kernel(allocates=True)
def find_reachable(
    course: Course, shift: int, first: int, reachable: BoolArray
) -> None:
    """Mark the states to which a course may lead from a state."""
    width = 1 << shift
    stack = np.empty(reachable.size, np.int64)
    for s in range(reachable.size):
        reachable[s] = s == first
    stack[0], height = first, 1
    while height > 0:
        height -= 1
        s = stack[height]
        for at in range(s * width, (s + 1) * width):
            for which in range(2):
                never = NEVER_SECOND if which == 1 else NEVER_FIRST
                t = np.int64(course.cells[2 * at + which] & LOW)
                if course.cuts[at] != never and not reachable[t]:
                    reachable[t] = True
                    stack[height] = t
                    height += 1
