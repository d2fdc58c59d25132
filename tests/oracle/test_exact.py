"""The exact oracle on instances whose numbers are known (spec, section 6)."""

from __future__ import annotations

from fractions import Fraction
from itertools import count, pairwise

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import (
    absorbing_doors,
    absorbing_doors_known,
    bandit,
    best_arm,
    best_arm_known,
    linear_bandit,
    linear_bandit_known,
    needle,
    needle_known,
)
from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays
from simgap.oracle.exact import count_nodes, exact_rounding, solve_exact
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Outcome, Planned
from simgap.oracle.settings import ExactOracle
from simgap.policies.graph import GraphPolicy
from tests.reference.latent import bound, exact_gap, random_latent, rational


def solved(simulators: SimulatorClass, horizon: int) -> tuple[LossForm, Planned]:
    form = loss_form(LatentMDP.uniform(simulators), horizon=horizon)
    return form, solve_exact(form, ExactOracle())


def value(simulators: SimulatorClass, horizon: int) -> float:
    form, planned = solved(simulators, horizon)
    return form.informed - gap_of(planned)


def gap_of(planned: Planned) -> float:
    """Return the middle of a bracket of rounding width."""
    return 0.5 * (planned.lower + planned.upper)


def switch_pair(delta: float, e: float) -> SimulatorClass:
    """Two switches that differ in which action is the good one (theory row 21)."""
    kernel = np.empty((2, 2, 2, 2))
    kernel[:, 1] = (delta, 1.0 - delta)
    for model in range(2):
        kernel[model, 0] = (1.0 - delta, delta)
        kernel[model, 0, model] = (1.0 - delta - e, delta + e)
    rewards = np.array([[0.0, 0.0], [1.0, 1.0]])
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


@pytest.mark.parametrize("e", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("horizon", [0, 1, 2, 3, 4])
def test_two_arms_in_closed_form(e: float, horizon: int) -> None:
    """Theory rows 15 and 16."""
    known = best_arm_known(2, e).oracle_value
    assert known is not None
    assert value(best_arm(2, e), horizon) == pytest.approx(known(horizon), abs=1e-13)


@pytest.mark.parametrize(("members", "horizon"), [(2, 3), (3, 6), (5, 4), (8, 20)])
def test_a_needle_costs_half_the_arms(members: int, horizon: int) -> None:
    """Theory rows 17 and 18: any order of search, so each gap is in [0, M - 1]."""
    known = needle_known(members).oracle_value
    assert known is not None
    form, planned = solved(needle(members), horizon)
    told = known(horizon)
    assert told is not None
    assert form.informed - gap_of(planned) == pytest.approx(told, abs=1e-12)
    if horizon - 1 >= members - 1:
        assert gap_of(planned) == pytest.approx((members - 1) / 2.0, abs=1e-12)
        assert planned.gap_intervals == pytest.approx(
            np.array([[0.0, members - 1.0]] * members), abs=5e-12
        )
        assert sorted(planned.gaps) == pytest.approx(list(range(members)), abs=1e-12)


def test_searching_in_random_order_makes_all_needles_equal() -> None:
    """The least worst gap over mixed oracles is then the average gap."""
    _, planned = solved(needle(4), 6)
    assert planned.gaps.max() == pytest.approx(3.0)
    assert planned.least_worst_gap == pytest.approx(1.5, abs=1e-9)


@pytest.mark.parametrize(
    ("horizon", "e", "best", "gap"),
    [
        (51, 0.05, 26.48079394, 1.019206),  # theory row 19
        (11, 0.25 * np.sqrt(2.0 / 10.0), 5.65876998, 0.459264),  # theory row 20
    ],
)
def test_two_arms_for_longer(horizon: int, e: float, best: float, gap: float) -> None:
    form, planned = solved(best_arm(2, e), horizon)
    assert form.informed - gap_of(planned) == pytest.approx(best, abs=5e-9)
    assert gap_of(planned) == pytest.approx(gap, abs=5e-7)


def test_two_switches() -> None:
    """Theory row 21."""
    form, planned = solved(switch_pair(0.25, 0.1), 20)
    assert form.informed - gap_of(planned) == pytest.approx(10.01643589, abs=5e-9)
    assert gap_of(planned) == pytest.approx(0.678009, abs=5e-7)


@pytest.mark.parametrize(
    ("members", "horizon", "best", "average"),
    [(2, 6, 2.0, 2.0), (3, 8, 2.0, 4.0), (4, 8, 1.5, 4.5)],
)
def test_an_irrevocable_choice_costs_the_horizon(
    members: int, horizon: int, best: float, average: float
) -> None:
    """Theory row 22, Proposition 1: any door is optimal, and wrong for all others."""
    form, planned = solved(absorbing_doors(members), horizon)
    known = absorbing_doors_known(members).oracle_value
    assert known is not None
    assert known(horizon) == best
    assert form.informed - gap_of(planned) == pytest.approx(best, abs=1e-12)
    assert gap_of(planned) == pytest.approx(average, abs=1e-12)
    assert planned.gap_intervals == pytest.approx(
        np.array([[0.0, horizon - 2.0]] * members), abs=1e-12
    )
    assert planned.least_worst_gap == pytest.approx(average, abs=1e-9)
    assert planned.nodes == 1  # after a door nothing is left to decide


@pytest.mark.parametrize("horizon", [5, 20])
def test_a_large_class_is_never_explored(horizon: int) -> None:
    """Theory row 23, Proposition 2: the second arm is not worth a pull."""
    members = 4 * horizon + 5
    form, planned = solved(linear_bandit(members), horizon)
    known = linear_bandit_known(members).oracle_value
    assert known is not None
    assert known(horizon) == (horizon - 1) / 2.0
    half = (horizon - 1) / 2.0
    assert form.informed - gap_of(planned) == pytest.approx(half, abs=1e-10)
    expected = np.append(np.zeros(members - 1), half)
    assert planned.gaps == pytest.approx(expected, abs=1e-10)
    assert planned.gap_intervals == pytest.approx(
        np.column_stack([expected, expected]), abs=1e-10
    )


@pytest.mark.parametrize(
    ("horizon", "worst"), [(5, 0.494949), (20, 0.498525), (80, 0.499615)]
)
def test_pulling_until_failure_is_nearly_free(horizon: int, worst: float) -> None:
    """Theory row 24: one trial of the second arm costs at most 1/2 there."""
    simulators = linear_bandit(4 * horizon + 5)
    form = loss_form(LatentMDP.uniform(simulators), horizon=horizon)
    last = horizon - 1
    policy = GraphPolicy(
        name="second arm until it fails",
        pattern=form.pattern,
        horizon=horizon,
        node_state=np.array([0, 1, 0, 1], np.int32),  # trying, trying, given up twice
        start_node=np.array([0, -1], np.int32),
        rule_offsets=np.arange(5),
        rule_since=np.zeros(4, np.int32),
        rule_until=np.full(4, last, np.int32),
        rule_action=np.array([1, 1, 0, 0], np.int32),
        next_offsets=2 * np.arange(5),
        next_node=np.array([2, 1, 2, 1, 2, 3, 2, 3], np.int32),
    )
    assert graph_gaps(form, policy).max() == pytest.approx(worst, abs=5e-7)


def test_a_smaller_class_is_explored() -> None:
    """Theory row 26: with M = H = 10 the second arm is pulled."""
    assert value(linear_bandit(10), 10) == pytest.approx(4.567112, abs=5e-7)
    assert linear_bandit(10).n_models == 10


def test_bounds_by_more_backups_come_down_to_the_oracle() -> None:
    """Theory row 37: U0 >= U1 >= ... >= U_H = W*, and U1 is QMDP."""
    rng = np.random.default_rng(37)
    strict = 0
    for _ in range(25):
        latent, horizon = random_latent(rng, denominator=16, most_histories=200)
        exact = rational(latent)
        bounds = [bound(exact, horizon, backups=k) for k in range(horizon + 1)]
        assert all(a >= b for a, b in pairwise(bounds))
        strict += bounds[0] > bounds[1]
        form = loss_form(latent, horizon=horizon)
        planned = solve_exact(form, ExactOracle())
        assert float(bounds[-1]) == pytest.approx(
            form.informed - gap_of(planned), abs=1e-12
        )
        greedy = sum(
            float((weights @ form.losses[0, s].T).min())
            for s, weights in zip(form.root_states, form.root_weights, strict=True)
        )
        assert float(bounds[0] - bounds[1]) == pytest.approx(greedy, abs=1e-12)
    assert strict > 5


def test_rounding_is_stated_and_honoured() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        latent, horizon = random_latent(rng, denominator=16, most_histories=200)
        form = loss_form(latent, horizon=horizon)
        planned = solve_exact(form, ExactOracle())
        gap = exact_gap(latent, horizon)
        assert Fraction(planned.lower) <= gap <= Fraction(planned.upper)
        width = planned.upper - planned.lower
        room = 2.0 * exact_rounding(form, planned.upper)
        assert width <= room + 4.0 * np.spacing(planned.upper)


def test_proportional_and_opposite_evidence_is_merged_soundly() -> None:
    """Rows from a short list: many columns say the same, or the opposite."""
    rng = np.random.default_rng(6)
    laws = np.array([[1, 3, 0], [3, 1, 0], [2, 2, 0], [1, 2, 1], [2, 1, 1], [0, 1, 3]])
    lost = 0
    for _ in range(30):
        M, A = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        kernel = laws[rng.integers(0, len(laws), (M, 3, A))] / 4.0
        rewards = np.repeat(rng.integers(0, 3, (3, 1)) / 2.0, A, axis=1)
        simulators = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
        form, planned = solved(simulators, 4)
        gap = exact_gap(form.latent, 4)
        assert Fraction(planned.lower) <= gap <= Fraction(planned.upper)
        assert graph_gaps(form, planned.policy) == pytest.approx(
            planned.gaps, abs=1e-12
        )
        lost += planned.upper > 1e-3
    assert lost > 10


def test_opposite_evidence_cancels() -> None:
    """Win on one arm and win on the other: back to the prior, one node for both.

    Wins and losses of two arms are two signed counts, so nodes grow as H^3 and not as
    H^4.
    """
    few, many = (solved(best_arm(2, 0.1), horizon)[1].nodes for horizon in (20, 40))
    assert many / few < 2.0**3.3


def test_evidence_beyond_the_range_of_floats_is_certainty() -> None:
    """After 130 pulls the odds are 10^780; nothing overflows and no gap is lost."""
    rare = 2.0**-20
    form, planned = solved(bandit([[1.0 - rare, 0.5], [rare, 0.5]]), 131)
    assert planned.outcome is Outcome.EXACT
    assert np.isfinite(planned.gaps).all()
    assert graph_gaps(form, planned.policy) == pytest.approx(planned.gaps, abs=1e-11)
    assert form.latent.prior @ planned.gaps == pytest.approx(gap_of(planned), abs=1e-11)
    # One pull of the first arm tells nearly all, and costs half of 0.499 on average.
    assert 0.249 < planned.upper < 0.4


def test_a_small_difference_is_no_tie_and_rounding_is_one() -> None:
    def ends(better: float) -> FloatArray:
        kernel = np.ones((2, 1, 2, 1))
        rewards = np.array([[[1.0, 0.0]], [[0.0, better]]])
        simulators = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
        intervals = solved(simulators, 1)[1].gap_intervals
        assert intervals is not None
        return intervals

    assert ends(1.0 + 1e-12) == pytest.approx(np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert ends(1.0 - 1e-12) == pytest.approx(np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert ends(1.0 + 2e-16) == pytest.approx(np.array([[0.0, 1.0], [0.0, 1.0]]))


def test_a_discount_is_refused() -> None:
    form = loss_form(LatentMDP.uniform(needle(3)), discount=0.9)
    with pytest.raises(InvalidArgument, match="horizon"):
        solve_exact(form, ExactOracle())
    with pytest.raises(InvalidArgument, match="horizon"):
        count_nodes(form, 10)


def assert_valid_bracket(form: LossForm, found: Planned, gap: float) -> None:
    assert found.lower <= gap <= found.upper
    assert found.lower < found.upper
    gaps = graph_gaps(form, found.policy)
    assert gaps == pytest.approx(found.gaps, abs=1e-12)
    assert form.latent.prior @ gaps == pytest.approx(found.upper, abs=1e-9)
    assert found.gap_intervals is None


def test_limits_leave_a_valid_bracket() -> None:
    form, exact = solved(best_arm(3, 0.2), 12)
    ticks = count()
    for settings, outcome in (
        (ExactOracle(max_nodes=50), Outcome.OUT_OF_NODES),
        (ExactOracle(max_memory=80_000), Outcome.OUT_OF_MEMORY),
        (ExactOracle(time_limit=3.0), Outcome.OUT_OF_TIME),
    ):
        found = solve_exact(form, settings, clock=lambda: float(next(ticks)))
        assert found.outcome is outcome
        assert_valid_bracket(form, found, exact.upper)
        assert found.nodes < exact.nodes


@pytest.mark.parametrize("moment", [1, 2, 5, 9])
def test_an_interrupt_leaves_a_valid_bracket(moment: int) -> None:
    form, exact = solved(best_arm(3, 0.2), 12)
    ticks = count()

    def clock() -> float:
        if next(ticks) == moment:
            raise KeyboardInterrupt
        return 0.0

    found = solve_exact(form, ExactOracle(bracket_if_interrupted=True), clock=clock)
    assert found.outcome is Outcome.INTERRUPTED
    assert_valid_bracket(form, found, exact.upper)


def test_a_count_gives_up_before_it_costs_anything() -> None:
    form = loss_form(LatentMDP.uniform(best_arm(8, 0.1)), horizon=60)
    assert count_nodes(form, 20_000) is None
    few = loss_form(LatentMDP.uniform(best_arm(2, 0.1)), horizon=10)
    assert count_nodes(few, 20_000) == solve_exact(few, ExactOracle()).nodes
