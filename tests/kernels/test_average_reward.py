"""Sweeps for gain and bias: equal to plain loops, and brackets that hold exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from simgap._kernels.solving.average_reward import (
    SLOW,
    SOLVED,
    difference_bracket,
    gain_sweeps,
    improvement_sweep,
    return_sweeps,
    wide_gain_sweeps,
)
from simgap._kernels.solving.lanes import LANES
from simgap._kernels.solving.reachability import (
    backward_order,
    predecessors,
    without_self_loops,
)
from simgap.arrays import FloatArray, read_only
from simgap.mdp import TabularMDP
from simgap.planning.lane_blocks import state_lanes
from tests.kernels.inputs import patterns, whole
from tests.reference import average_reward as twin
from tests.reference.kernel_rows import backup, entries, exact_changes
from tests.reference.rational import COMMUNICATING, RationalMDP, sparse_model
from tests.strategies import as_class

TOLERANCE = 1e-9
Solver = Callable[[TabularMDP, int], tuple[int, FloatArray, FloatArray]]


def by_sweeps(
    model: TabularMDP, patience: int = 500, unit: float = 1.0
) -> tuple[int, FloatArray, FloatArray]:
    kernel, tolerance = model.transitions, TOLERANCE * unit
    bias, bracket = np.zeros(kernel.n_states), np.zeros(3)
    outcome = gain_sweeps(
        state_lanes(kernel, 0), unit * model.rewards.reshape(-1), kernel.n_actions,
        kernel.longest_row, tolerance, 1e-3 * tolerance, patience, bias,
        np.empty(model.n_states, np.int32), bracket,
    )  # fmt: skip
    return outcome, bias, bracket


def by_returns(
    model: TabularMDP, patience: int = 4000, unit: float = 1.0
) -> tuple[int, FloatArray, FloatArray]:
    kernel, rewards = model.transitions, unit * model.rewards.reshape(-1)
    tolerance = TOLERANCE * unit
    stored = kernel.indptr, kernel.indices, kernel.values[0]
    begins, others, kept, leave = without_self_loops(*stored, kernel.n_actions)
    reference = int(np.argmax(rewards)) // kernel.n_actions
    sources = predecessors(*stored, kernel.n_states, kernel.n_actions)
    order = backward_order(*sources, np.array([reference]))
    bias, bracket = np.zeros(kernel.n_states), np.array([0.0, rewards.max(), 0.0])
    outcome = return_sweeps(
        begins, others.view(np.uint32), kept, leave, rewards, kernel.n_actions, order,
        reference, tolerance, 1e-3 * tolerance, patience, bias, bracket,
    )  # fmt: skip
    return outcome, bias, bracket


SOLVERS: list[Solver] = [by_sweeps, by_returns]


def models(seed: int) -> list[RationalMDP]:
    rng = np.random.default_rng(seed)
    return [
        family(rng, S, A, 16)
        for family in COMMUNICATING
        for S, A in ((1, 1), (1, 3), (2, 2), (4, 2), (5, 3))
    ]


def test_a_sweep_over_all_actions_is_its_twin() -> None:
    rng = np.random.default_rng(61)
    for kernel in patterns(62):
        bias = whole(rng, kernel.n_states)
        rewards = whole(rng, kernel.indptr.size - 1)
        totals = np.full(rewards.size, np.nan)
        best, bracket = np.empty(kernel.n_states), np.empty(3)
        improvement_sweep(
            *kernel.arrays, rewards, kernel.n_actions, bias, totals, best, bracket
        )
        table = np.array(
            [
                backup(kernel.arrays, row, rewards[row], bias)
                for row in range(rewards.size)
            ]
        ).reshape(kernel.n_states, kernel.n_actions)
        assert (totals == table.ravel()).all()
        assert (best == table.max(axis=1)).all()
        change = best - bias
        size = max(np.abs(bias).max(), np.abs(best).max())
        assert bracket.tolist() == [change.min(), change.max(), size]


def test_a_bracket_by_differences_contains_the_exact_changes() -> None:
    """h of 1e9 with differences of 1: the noise follows the differences."""
    rng = np.random.default_rng(65)
    for kernel in patterns(66, dyadic=False):
        begins, others, kept, _ = without_self_loops(*kernel.arrays, kernel.n_actions)
        bias = read_only(1e9 + rng.normal(size=kernel.n_states))
        rewards = read_only(rng.normal(size=begins.size - 1))
        bracket = np.empty(3)
        difference_bracket(
            begins, others, kept, rewards, kernel.n_actions, bias, bracket
        )
        h = [Fraction(float(x)) for x in bias]
        changes = []
        for s in range(kernel.n_states):
            rows = range(s * kernel.n_actions, (s + 1) * kernel.n_actions)
            changes.append(
                max(
                    Fraction(float(rewards[row]))
                    + sum(
                        Fraction(p) * (h[t] - h[s])
                        for t, p in entries((begins, others, kept), row)
                    )
                    for row in rows
                )
            )
        lower, upper = Fraction(bracket[0].item()), Fraction(bracket[1].item())
        assert lower <= min(changes)
        assert max(changes) <= upper
        assert min(changes) - lower <= 2.0 * bracket[2]
        assert upper - max(changes) <= 2.0 * bracket[2]
        assert bracket[2] < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_sweeps_bracket_the_exact_gain(solver: Solver) -> None:
    solved = 0
    for model in models(67):
        simulator = model.simulator()
        outcome, bias, bracket = solver(simulator, 4000)
        if outcome == SLOW:
            continue
        assert outcome == SOLVED
        solved += 1
        gain = twin.optimal_gain(model.transitions, model.rewards)
        lower, upper = Fraction(bracket[0].item()), Fraction(bracket[1].item())
        assert lower <= gain <= upper
        assert upper - lower <= TOLERANCE
        kernel = simulator.transitions
        changes = exact_changes(
            (kernel.indptr, kernel.indices, kernel.values[0]),
            kernel.n_actions,
            simulator.rewards.reshape(-1),
            bias,
        )
        assert lower <= min(changes)  # the bracket belongs to the vector handed back
        assert max(changes) <= upper
    assert solved >= 20


@pytest.mark.parametrize("patience", [7, 2000])
def test_sixteen_models_at_once_have_brackets_that_hold_exactly(patience: int) -> None:
    """However early the sweeps stop, odd or even, the bracket fits the bias."""
    rng = np.random.default_rng(68)
    rational = [sparse_model(rng, 5, 2, 16) for _ in range(LANES)]
    simulators = as_class(rational)
    kernel = simulators.transitions
    values = read_only(kernel.values.T)
    rewards = read_only(simulators.rewards.reshape(LANES, -1).T)
    bias, brackets = np.zeros((5, LANES)), np.zeros((3, LANES))
    wide_gain_sweeps(
        kernel.indptr, kernel.indices, values, rewards, 2,
        int(np.diff(kernel.indptr).max()), 1e-10, patience, bias, brackets,
    )  # fmt: skip
    narrow = 0
    for lane, model in enumerate(rational):
        lower = Fraction(brackets[0, lane].item())
        upper = Fraction(brackets[1, lane].item())
        changes = exact_changes(
            (kernel.indptr, kernel.indices, values[:, lane]), 2, rewards[:, lane],
            bias[:, lane],
        )  # fmt: skip
        assert lower <= min(changes)
        assert max(changes) <= upper
        assert min(changes) - lower <= 3.0 * brackets[2, lane]
        assert upper - max(changes) <= 3.0 * brackets[2, lane]
        gain = twin.optimal_gain(model.transitions, model.rewards)
        assert lower <= gain <= upper
        narrow += upper - lower <= 1e-9
    assert narrow == (LANES if patience == 2000 else 0)
