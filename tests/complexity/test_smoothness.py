"""Distances, Lipschitz constants of values and gaps, constants for every class."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from simgap.complexity import (
    AverageL1,
    Discrete,
    GreatestL1,
    Metric,
    ModelDistances,
    ParameterDistance,
    gap_constant,
    lipschitz,
    model_distances,
    optimal_constant,
    policy_constant,
    separation,
    smoothness,
)
from simgap.errors import InvalidArgument
from simgap.instances import bandit, chain, linear_bandit, riverswim
from simgap.planning import diameter, optimal_values, policy_values
from tests.reference import complexity as twin, episodic, travel
from tests.reference.rational import RationalMDP, dense_model
from tests.strategies import as_class


def uniform(members: int) -> list[float]:
    return [1.0 / members] * members


# Distances


def test_distances_are_those_of_fractions() -> None:
    rng = np.random.default_rng(71)
    models = [dense_model(rng, 3, 2, 16) for _ in range(4)]
    some = as_class(models)
    known = separation(some)
    greatest = model_distances(some, GreatestL1(), compared=known).matrix
    average = model_distances(some, AverageL1()).matrix
    for i, one in enumerate(models):
        for j, other in enumerate(models):
            pair = one.transitions, other.transitions
            assert greatest[i, j] == float(twin.greatest_l1(*pair)[0])
            assert average[i, j] == pytest.approx(float(twin.average_l1(*pair)))


@pytest.mark.parametrize(
    "metric", [GreatestL1(), AverageL1(), ParameterDistance(), Discrete()]
)
def test_every_distance_is_a_metric_up_to_duplicates(metric: Metric) -> None:
    some = riverswim(5, (0.2, 0.35, 0.4, 0.7, 0.35), (0.05, 0.1, 0.2, 0.05, 0.1))
    matrix = model_distances(some, metric).matrix
    assert (matrix == matrix.T).all() and not np.diag(matrix).any()
    assert (matrix >= 0.0).all()
    triangle = matrix[:, :, None] + matrix[None, :, :] - matrix[:, None, :]
    assert triangle.min() >= -1e-12


def test_parameters_are_measured_in_their_ranges_or_in_units() -> None:
    some = chain(4, up=(0.1, 0.5), down=(0.2, 0.3))
    names, theta = some.theta.names, some.theta.values
    ranges = np.ptp(theta, axis=0)
    plain = model_distances(some, ParameterDistance()).matrix
    assert plain.max() == pytest.approx(np.sqrt((ranges > 0.0).sum()))
    units = tuple(2.0 for _ in names)
    halved = model_distances(some, ParameterDistance(units)).matrix
    assert halved[0, 1] == pytest.approx(np.linalg.norm(theta[0] - theta[1]) / 2.0)


# Constants of a neighbourhood


def test_constants_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(72)
    for _ in range(500):
        count = int(rng.integers(1, 7))
        place = rng.integers(0, 9, count) / 8.0
        matrix = np.abs(place[:, None] - place[None, :])
        values, gaps = rng.integers(0, 5, (2, count)) / 4.0
        real, radius = int(rng.integers(count)), float(rng.integers(0, 9)) / 8.0
        found = smoothness(
            ModelDistances(GreatestL1(), matrix), values, gaps,
            real=real, radius=radius, prior=uniform(count),
        )  # fmt: skip
        inside = [m for m in range(count) if matrix[real, m] <= radius]
        assert found.members.tolist() == inside
        assert found.mass == pytest.approx(len(inside) / count)
        exact = twin.fractions(matrix.tolist())
        value = twin.lipschitz(twin.fractions([values.tolist()])[0], exact, inside)
        assert found.value.constant == (inf if value is None else float(value))
        falls = [max(gaps[real] - gaps[m], 0.0) for m in inside]
        apart = [matrix[real, m] for m in inside]
        slopes = [
            (inf if f else 0.0) if d == 0.0 else f / d
            for f, d in zip(falls, apart, strict=True)
        ]
        assert found.gap.constant == max(slopes)
        if found.value.pair is not None:
            i, j = found.value.pair
            rise = abs(values[i] - values[j])
            if matrix[i, j]:
                assert found.value.constant == rise / matrix[i, j]
            else:
                assert rise > 0.0 and found.value.constant == inf
        if found.gap.pair is not None:
            assert found.gap.pair[0] == real


def test_proposition_2_is_smooth_in_value_and_steep_in_gap() -> None:
    """Errata E9: L = 0 on any ball, a gap of (H-1)/2, and L_gap of order H.

    The policy that only plays the fair arm is the oracle's (theory row 23). The paper's
    bound would be the average gap of the base policy, at most 1/2; the repaired one
    holds.
    """
    horizon = 20
    large = linear_bandit(4 * horizon + 5)
    fair = np.zeros((large.n_states,), np.int32)
    values = policy_values(large, fair, horizon).start
    gaps = optimal_values(large, horizon).start - values
    winner = len(large) - 1
    metric = model_distances(large, GreatestL1())
    base = 0.5  # gap of "the other arm until it fails", at most, in every model
    for radius in (1.6, 2.0):
        found = smoothness(
            metric, values, gaps,
            real=winner, radius=radius, prior=uniform(len(large)),
        )  # fmt: skip
        assert found.value.constant <= 1e-12
        assert gaps[winner] == pytest.approx((horizon - 1) / 2.0)
        paper = base / found.mass + found.value.constant * radius
        repaired = base / found.mass + found.gap.constant * radius
        assert repaired >= gaps[winner]
        assert found.gap.constant > horizon / 4.0
        if radius == 2.0:
            assert found.mass == pytest.approx(1.0)
            assert paper < gaps[winner] / 10.0  # the statement is false
    bound = gap_constant(horizon, 2.0)
    assert found.gap.constant <= bound


def test_the_discrete_distance_gives_back_finite_classes() -> None:
    """eps = 0 and 1[M_1 != M_2]: nu(C) is the prior of the real world, L_gap is 0."""
    some = riverswim(4, (0.2, 0.4, 0.6))
    found = smoothness(
        model_distances(some, Discrete()), [1.0, 2.0, 3.0], [0.5, 0.0, 0.25],
        real=2, radius=0.0, prior=[0.2, 0.3, 0.5],
    )  # fmt: skip
    assert found.members.tolist() == [2]
    assert found.mass == 0.5
    assert (found.value.constant, found.gap.constant) == (0.0, 0.0)
    assert found.value.pair is None and found.gap.pair is None


def test_different_values_at_no_distance_are_not_smooth() -> None:
    twins = bandit([[0.5], [0.5], [0.7]])
    found = smoothness(
        model_distances(twins, GreatestL1()), [0.0, 1.0, 0.0], [1.0, 0.0, 0.0],
        real=0, radius=0.0, prior=uniform(3),
    )  # fmt: skip
    assert found.value.constant == inf and found.value.pair == (0, 1)
    assert found.gap.constant == inf and found.gap.pair == (0, 1)


def test_radius_zero_needs_a_prior_on_the_real_world() -> None:
    metric = ModelDistances(Discrete(), 1.0 - np.eye(2))
    with pytest.raises(InvalidArgument, match="prior 0 and the radius is 0"):
        smoothness(metric, [0, 0], [0, 0], real=0, radius=0.0, prior=[0.0, 1.0])
    half = smoothness(metric, [0, 0], [0, 0], real=0, radius=0.5, prior=[0.0, 1.0])
    assert half.mass == 0.0  # a bound from it is infinite


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"values": [0.0]}, "values"),
        ({"gaps": [0.0, np.nan]}, "gaps"),
        ({"real": 2}, "no model 2"),
        ({"radius": -1.0}, "radius"),
        ({"radius": np.nan}, "radius"),
        ({"prior": [0.5, 0.4]}, "distribution"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(
    change: dict[str, object], says: str
) -> None:
    given: dict[str, object] = {
        "values": [0.0, 1.0], "gaps": [0.0, 1.0],
        "real": 0, "radius": 1.0, "prior": [0.5, 0.5],
    }  # fmt: skip
    metric = ModelDistances(Discrete(), 1.0 - np.eye(2))
    with pytest.raises(InvalidArgument, match=says):
        smoothness(metric, **(given | change))  # type: ignore[arg-type]


# Constants for every class


def random_plan(
    rng: np.random.Generator, actions: int
) -> tuple[dict[tuple[int, ...], list[Fraction]], object]:
    """A policy that draws its rule at each history when first asked."""
    rules: dict[tuple[int, ...], list[Fraction]] = {}

    def plan(history: tuple[int, ...]) -> list[Fraction]:
        if history not in rules:
            if rng.random() < 0.5:
                sure = int(rng.integers(actions))
                rules[history] = [Fraction(int(a == sure)) for a in range(actions)]
            else:
                parts = [int(n) for n in rng.integers(1, 5, actions)]
                rules[history] = [Fraction(n, sum(parts)) for n in parts]
        return rules[history]

    return rules, plan


def value(
    model: RationalMDP, plan: object, history: tuple[int, ...], left: int
) -> Fraction:
    """V^pi from a history (s, a, s, a, ..., s), by recursion."""
    assert callable(plan)
    if left == 0:
        return Fraction(0)
    s = history[-1]
    total = Fraction(0)
    for a, share in enumerate(plan(history)):
        if share:
            later = sum(
                (
                    p * value(model, plan, (*history, a, t), left - 1)
                    for t, p in enumerate(model.transitions[s][a])
                    if p
                ),
                Fraction(0),
            )
            total += share * (model.rewards[s][a] + later)
    return total


def check_history_policies(rng: np.random.Generator, cases: int) -> None:
    for _ in range(cases):
        S, A, H = (int(n) for n in rng.integers((2, 1, 1), (4, 3, 5)))
        one = dense_model(rng, S, A, 8)
        other = RationalMDP(dense_model(rng, S, A, 8).transitions, one.rewards)
        _, plan = random_plan(rng, A)
        apart = twin.greatest_l1(one.transitions, other.transitions)[0]
        flat = [r for row in one.rewards for r in row]
        span = float(max(flat) - min(flat))
        gap = abs(value(one, plan, (0,), H) - value(other, plan, (0,), H))
        constant = policy_constant(H, reward_span=span)
        assert float(gap) <= constant * float(apart) + 1e-12
        best = [
            episodic.optimal_values(m.transitions, m.rewards, H)[0][0]
            for m in (one, other)
        ]
        shortest = min(
            max(max(travel.hitting_times(m.transitions, t)) for t in range(S))
            for m in (one, other)
        )
        constant = optimal_constant(H, float(shortest), reward_span=span)
        assert abs(float(best[0] - best[1])) <= constant * float(apart) + 1e-12


def test_no_policy_with_memory_breaks_the_constants() -> None:
    """Theory row 38: |V_1 - V_2| <= d H (H - 1) / 4, and the one for optimal values."""
    check_history_policies(np.random.default_rng(73), 60)


def test_the_constant_of_policies_is_nearly_reached() -> None:
    """One action, win and lose, kernels that stick: the bound is not far off."""
    stay, leave = [[[1.0, 0.0]], [[0.0, 1.0]]], [[[0.999, 0.001]], [[0.0, 1.0]]]
    horizon = 12
    models = [
        RationalMDP(
            tuple(
                tuple(tuple(Fraction(p).limit_denominator(1000) for p in r) for r in s)
                for s in kernel
            ),
            ((Fraction(0),), (Fraction(1),)),
        )
        for kernel in (stay, leave)
    ]
    gains = [value(m, lambda history: [Fraction(1)], (0,), horizon) for m in models]
    bound = policy_constant(horizon) * 0.002
    assert 0.98 * bound <= float(gains[1] - gains[0]) <= bound


def test_constants_in_closed_form() -> None:
    assert [policy_constant(h) for h in (0, 1, 2, 5)] == [0.0, 0.0, 0.5, 5.0]
    assert optimal_constant(10, 2.0) == 9.0
    assert optimal_constant(10, 100.0) == policy_constant(10) == 22.5
    assert optimal_constant(10, inf, reward_span=0.5) == 11.25
    assert optimal_constant(0, 3.0) == 0.0
    assert gap_constant(10, 2.0) == 31.5


def test_the_steepest_pair_of_a_whole_class() -> None:
    some = riverswim(5, tuple(np.linspace(0.2, 0.6, 5)))
    metric = model_distances(some, GreatestL1())
    values = optimal_values(some, 30).start
    found = lipschitz(metric, values)
    assert found.pair is not None
    i, j = found.pair
    assert found.constant == abs(values[i] - values[j]) / metric.matrix[i, j]
    upper = optimal_constant(30, diameter(some).upper)
    assert 0.0 < found.constant <= upper


# Travel, which elimination rests on
