"""The end of an episode: rules by steps left; what is left on average, or at most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.walking.walk import (
    STATE,
    STEPS,
    TAIL,
    Course,
    Run,
    World,
    play,
    set_course,
)
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray


class Tails(NamedTuple):
    """What each of P stationary policies does in a world in 2^j steps, j < J."""

    powers: FloatArray  # (P, J, S, S)
    sums: FloatArray  # (P, J, S), rewards above rho per step


@kernel(allocates=True)
def leave_to_expectation(world: World, run: Run, tails: Tails, policy: int) -> None:
    """End a run: what is left is worth its expectation under one policy."""
    n_states = tails.sums.shape[2]
    law = np.zeros(n_states)
    spare = np.empty(n_states)
    law[run.clock[STATE]] = 1.0
    left = world.horizon - run.clock[STEPS]
    total = 0.0
    for j in range(tails.sums.shape[1]):
        if (left >> j) & 1:
            for s in range(n_states):
                total += law[s] * tails.sums[policy, j, s]
            spare[:] = 0.0
            for s in range(n_states):
                if law[s] > 0.0:
                    for t in range(n_states):
                        spare[t] += law[s] * tails.powers[policy, j, s, t]
            copy_vector(spare, law)
    run.sums[TAIL] = total


@kernel
def stored_left(left: int, known: int, period: int) -> int:
    """Return the stored number of steps left that has the same rule as `left`."""
    if left <= known:
        return left
    return known - period + 1 + (left - known - 1) % period


@kernel
def play_rules(
    world: World, run: Run, course: Course, known: int, period: int,
    since: OffsetArray, rules: IndexArray, grid: OffsetArray, trace: FloatArray,
) -> None:  # fmt: skip
    """Follow the rules of one model, by steps left, to the end of the episode."""
    last = since.size - 1
    while run.clock[STEPS] < world.horizon:
        left = world.horizon - run.clock[STEPS]
        stored = stored_left(left, known, period)
        at, beyond = 0, since.size
        while beyond - at > 1:  # the last rule that begins at `stored` or before
            middle = (at + beyond) // 2
            if since[middle] <= stored:
                at = middle
            else:
                beyond = middle
        steps = stored - since[at] + 1
        if left > known:
            if since[last] <= known - period + 1:  # one rule for the whole period
                steps = left - since[last] + 1
            else:
                steps = min(steps, stored - (known - period))
        set_course(world, rules[at], course)
        play(world, run, course, steps, grid, trace)


@kernel
def leave_to_optimum(
    world: World, run: Run, period: int, drift: float, table: FloatArray
) -> None:
    """End a run: what is left is worth V*_n - n g, n the steps left.

    `table` (N + 1, S) has it for n <= N; from there on it repeats but for a drift per
    period, the error of g.
    """
    left = world.horizon - run.clock[STEPS]
    stored = stored_left(left, table.shape[0] - 1, period)
    total = table[stored, run.clock[STATE]]
    if stored < left:
        total += (left - stored) // period * drift
    run.sums[TAIL] = total


@kernel
def lose_most(
    indptr: OffsetArray,
    next_state: IndexArray,
    possible: BoolArray,
    losses: FloatArray,
    most: FloatArray,
    spare: FloatArray,
) -> None:
    """Write the most that the last L steps can lose from every state to `most` (S,).

    `losses` (L, S A) are by steps left; of the edges of a row some are possible.
    """
    n_actions = losses.shape[1] // most.size
    most[:] = 0.0
    for n in range(losses.shape[0]):
        copy_vector(most, spare)
        most[:] = -np.inf
        for row in range(losses.shape[1]):
            after = -np.inf
            for e in range(indptr[row], indptr[row + 1]):
                if possible[e]:
                    after = max(after, spare[next_state[e]])
            state = row // n_actions
            most[state] = max(most[state], losses[n, row] + after)
