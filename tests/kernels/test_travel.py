"""Travel sweeps: outcomes, and factors that are bounds in Fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simgap._kernels.solving.lanes import LANES
from simgap._kernels.solving.reachability import (
    backward_order,
    predecessors,
    without_self_loops,
)
from simgap._kernels.solving.travel import (
    SLOW,
    SOLVED,
    greedy_travel_policy,
    ordered_travel_sweeps,
    wide_travel_sweeps,
)
from simgap.arrays import FloatArray, OffsetArray, read_only
from simgap.mdp import Transitions
from tests.kernels.inputs import patterns, whole
from tests.reference import travel as twin
from tests.reference.kernel_rows import backup, travel_bounds_hold
from tests.reference.rational import COMMUNICATING, RationalMDP

TOLERANCE = 1e-9


def wide(
    kernel: Transitions,
    values: FloatArray,
    targets: OffsetArray,
    *,
    prune_below: float = 0.0,
    patience: int = 300,
) -> tuple[int, FloatArray, FloatArray]:
    now = np.ones((kernel.n_states, LANES))
    now[targets, np.arange(LANES)] = 0.0
    after, bounds = np.zeros((kernel.n_states, LANES)), np.zeros((3, LANES))
    outcome = wide_travel_sweeps(
        kernel.indptr, kernel.indices, values, kernel.n_actions, targets, TOLERANCE,
        patience, prune_below, int(np.diff(kernel.indptr).max()), now, after, bounds,
    )  # fmt: skip
    return outcome, now, bounds


def ordered(
    kernel: Transitions,
    values: FloatArray,
    targets: OffsetArray,
    *,
    prune_below: float = 0.0,
    patience: int = 4000,
) -> tuple[int, FloatArray, FloatArray]:
    stored = kernel.indptr, kernel.indices, values
    begins, others, kept, leave = without_self_loops(*stored, kernel.n_actions)
    sources = predecessors(*stored, kernel.n_states, kernel.n_actions)
    order = backward_order(*sources, targets)
    times, bounds = np.ones((kernel.n_states, LANES)), np.zeros((3, LANES))
    times[targets, np.arange(LANES)] = 0.0
    with np.errstate(divide="ignore"):
        inverse = 1.0 / leave
    outcome = ordered_travel_sweeps(
        *stored, begins, others, kept, inverse, kernel.n_actions, order, targets,
        TOLERANCE, patience, prune_below, int(np.diff(kernel.indptr).max()), times,
        bounds,
    )  # fmt: skip
    return outcome, times, bounds


METHODS = [wide, ordered]


def models(seed: int, n: int = 16) -> list[RationalMDP]:
    rng = np.random.default_rng(seed)
    return [
        family(rng, S, A, n)
        for family in COMMUNICATING[:4]
        for S, A in ((2, 1), (2, 2), (5, 3), (9, 2))
    ]


@pytest.mark.parametrize("method", METHODS)
def test_certified_factors_contain_the_exact_times(method: Any) -> None:
    solved = 0
    for model in models(51):
        kernel = model.simulator().transitions
        targets = read_only(np.resize(np.arange(model.n_states), LANES), np.int64)
        outcome, times, bounds = method(kernel, kernel.values[0], targets)
        if outcome == SLOW:
            continue
        assert outcome == SOLVED
        solved += 1
        for lane in range(min(LANES, model.n_states)):
            exact = twin.hitting_times(model.transitions, lane)
            for s, time in enumerate(exact):
                stored = Fraction(float(times[s, lane]))
                assert Fraction(float(bounds[0, lane])) * stored <= time
                assert time <= Fraction(float(bounds[1, lane])) * stored
            assert bounds[1, lane] <= bounds[0, lane] * (1.0 + 1.001 * TOLERANCE)
        assert bounds[2] == pytest.approx(times.max(axis=0), rel=1e-15)
    assert solved >= 12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("states", [16, 17, 33])
def test_factors_are_bounds_in_fractions_for_more_states_than_lanes(
    method: Any, states: int
) -> None:
    """Probabilities k/12 are rounded: the bounds are those of the stored numbers."""
    rng = np.random.default_rng(52)
    for family, n in ((COMMUNICATING[0], 2 * states), (COMMUNICATING[1], 12)):
        kernel = family(rng, states, 2, n).simulator().transitions
        targets = rng.permutation(states)[:LANES]
        outcome, times, bounds = method(kernel, kernel.values[0], targets)
        assert outcome == SOLVED
        for lane in range(LANES):
            low, high = float(bounds[0, lane]), float(bounds[1, lane])
            stored = kernel.indptr, kernel.indices, kernel.values[0]
            column = times[:, lane]
            target = int(targets[lane])
            assert travel_bounds_hold(stored, 2, target, column, low, high)
            # and the check has teeth: a bracket moved by its own width fails
            moved = 1.0 + 4.0 * TOLERANCE
            assert not travel_bounds_hold(
                stored, 2, target, column, low * moved, high * moved
            )


def test_the_greedy_policy_is_the_first_least_action() -> None:
    rng = np.random.default_rng(57)
    ties = 0
    for kernel in patterns(58):
        times = whole(rng, kernel.n_states, low=0)
        policy = np.full(kernel.n_states, -1, np.int32)
        target = int(rng.integers(kernel.n_states))
        greedy_travel_policy(*kernel.arrays, kernel.n_actions, target, times, policy)
        for s in range(kernel.n_states):
            rows = range(s * kernel.n_actions, (s + 1) * kernel.n_actions)
            steps = times - times[s]  # rows here need not sum to 1
            totals = [backup(kernel.arrays, row, 0.0, steps) for row in rows]
            wanted = 0 if s == target else totals.index(min(totals))
            assert policy[s] == wanted
            ties += totals.count(min(totals)) > 1
    assert ties > 3
