"""Slow twins of walks that stop early, and of what a course can come to."""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap._kernels.walking.walk import STATE, Course, Run, World, step_with
from simgap.arrays import AnyArray


def played_within(
    world: World, run: Run, course: Course, steps: int, price: Any, budget: float,
    grid: Any, trace: Any,
) -> int:  # fmt: skip
    """Take steps one by one until their prices have used up the budget."""
    spent, edge = 0.0, -1
    for _ in range(steps):
        row = int(course.rows[run.clock[STATE]])
        edge = int(step_with(world, run, row, grid, trace))
        spent += float(price[edge])
        if spent >= budget:
            break
    return edge


def reached(chances: AnyArray, first: int) -> set[int]:
    """Return the states that a chain (S, S) can come to from a state."""
    seen = {first}
    while True:
        more = {int(t) for s in seen for t in np.flatnonzero(chances[s] > 0.0)}
        if more <= seen:
            return seen
        seen |= more
