"""Steps to tell two models apart: histories followed one by one, and closed forms."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given

from simgap._kernels.solving.affinity import least_affinity
from simgap.answers.identify.shared_paths import (
    never_silenced,
    shared_paths,
)
from simgap.answers.identify.telling_apart import TellingApart, telling_apart
from simgap.mdp import Details, IndexOrder, SimulatorClass, class_from_arrays
from tests.reference import telling_apart as twin
from tests.reference.rational import RationalMDP, dense_model, sparse_model
from tests.strategies import STEADY, as_class, rational_classes

LONGEST = 4  # steps of experiments that are followed history by history


def built(*kernels: object, start: object = 0) -> SimulatorClass:
    """Return models of equal rewards from nested lists [state][action][next]."""
    given = np.array(kernels, float)
    return class_from_arrays(
        given,
        np.zeros(given.shape[1:3]),
        order=IndexOrder.STATE_ACTION,
        details=Details(start=start),
    )


def coins(*chances: float) -> SimulatorClass:
    """Return models that throw a coin at every step: heads is state 1."""
    return built(*([[[1.0 - p, p]]] * 2 for p in chances))


def exponent(p: float, q: float) -> float:
    """Return -log BC of two coins to all digits."""
    one, other = Decimal(p), Decimal(q)
    return -float(((one * other).sqrt() + ((1 - one) * (1 - other)).sqrt()).ln())


def ends(found: TellingApart) -> tuple[float, float]:
    assert found.steps.lower is not None
    assert found.steps.upper is not None
    return found.steps.lower, found.steps.upper


def first_below(series: list[Decimal], level: Decimal) -> float:
    return next((n for n, value in enumerate(series) if value <= level), inf)


@given(rational_classes(members=(2, 2), most=(3, 2), communicating=False))
@STEADY
def test_ends_are_those_of_all_histories_and_hold_the_least_error(
    models: list[RationalMDP],
) -> None:
    one, other = (model.transitions for model in models)
    steps = LONGEST if len(one) < 3 else LONGEST - 1
    affinity = [twin.least_affinity(one, other, 0, n) for n in range(steps + 1)]
    errors = [twin.least_error(one, other, 0, n) for n in range(steps + 1)]
    for error in (Fraction(1, 50), Fraction(1, 9), Fraction(1, 4), Fraction(2, 5)):
        lower, upper = ends(telling_apart(as_class(models), 0, 1, error=float(error)))
        needed = first_below([twin.root(e * e) for e in errors], twin.root(error**2))
        if needed <= steps:
            assert lower <= needed <= upper
        else:
            assert upper > steps
        near = Decimal("1e-12")  # levels met exactly may go either way in floats
        possible = 2 * twin.root(error * (1 - error))
        for level, end in ((possible, lower), (2 * twin.root(error**2), upper)):
            if all(abs(value - level) > near for value in affinity):
                assert first_below(affinity, level) == end or end > steps
                assert first_below(affinity, level) in (end, inf)


@given(rational_classes(members=(2, 2), most=(3, 2), communicating=False))
@STEADY
def test_two_models_are_as_far_from_one_another_both_ways(
    models: list[RationalMDP],
) -> None:
    simulators = as_class(models)
    one, other = telling_apart(simulators, 0, 1), telling_apart(simulators, 1, 0)
    assert one.steps == other.steps
    assert (one.state, one.action, one.visits) == (
        other.state,
        other.action,
        other.visits,
    )
    same = telling_apart(simulators, 0, 0)
    assert ends(same) == (inf, inf)
    assert same.state is None


@pytest.mark.parametrize(
    ("p", "q", "error"),
    [(0.2, 0.7, 0.05), (0.5, 0.6, 0.01), (0.3, 0.31, 0.05), (0.1, 0.1001, 0.2)],
)
def test_a_coin_needs_the_closed_form_of_throws(
    p: float, q: float, error: float
) -> None:
    found = telling_apart(coins(p, q), 0, 1, error=error)
    lower = ceil(-log(2 * sqrt(error * (1 - error))) / exponent(p, q))
    upper = ceil(-log(2 * error) / exponent(p, q))
    rounding = 1e-14 / exponent(p, q)  # a step is known to 18 roundings
    low, high = ends(found)
    assert lower * (1 - rounding) - 1e-9 <= low <= lower
    assert upper <= high <= upper * (1 + rounding) + 1e-9
    assert found.visits == upper
    assert found.distance == pytest.approx(2 * (q - p))


@pytest.mark.parametrize("most", [32, 48, 200])
@pytest.mark.parametrize("error", [0.3, 0.05, 1e-4])
def test_steps_far_ahead_of_those_computed_are_those_of_the_closed_form(
    most: int, error: float
) -> None:
    """BC_n of a coin is a power: no step is lost or won by looking ahead."""
    found = telling_apart(coins(0.50, 0.52), 0, 1, error=error, most_steps=most)
    rate = exponent(0.50, 0.52)
    lower = ceil(-log(2 * sqrt(error * (1 - error))) / rate)
    upper = ceil(-log(2 * error) / rate)
    assert upper > 2 * most
    assert ends(found) == (lower, upper)


@pytest.mark.parametrize(
    ("p", "q", "error", "visits"),
    [
        (0.1, 0.9, 0.2999, 2),  # BC = 0.6
        (0.1, 0.9, 0.3001, 1),
        (0.1, 0.9, 0.1801, 2),  # 0.36 = 0.6^2
        (0.1, 0.9, 0.1799, 3),
        (0.5, 1.0, 0.25, 2),  # BC^2 = 1/2
        (0.5, 1.0, 0.125, 4),
        (0.5, 1.0, 0.1249, 5),
    ],
)
def test_visits_are_the_least_whose_power_is_twice_the_error(
    p: float, q: float, error: float, visits: int
) -> None:
    assert telling_apart(coins(p, q), 0, 1, error=error).visits == visits


def test_first_states_tell_models_apart_before_any_step() -> None:
    kernel = [[[1.0, 0.0]], [[0.0, 1.0]]]
    apart = built(kernel, kernel, start=[[1.0, 0.0], [0.0, 1.0]])
    found = telling_apart(apart, 0, 1)
    assert ends(found) == (0, 0)
    close = built(kernel, kernel, start=[[0.5, 0.5], [0.6, 0.4]])
    assert telling_apart(close, 0, 1).steps.lower == inf


def gate(*, waiting: bool) -> SimulatorClass:
    """Half of the ways to the only place that tells end in a pit.

    Waiting before the gate is a silent loop over two states.
    """
    through = [0.0, 0.5, 0.5, 0.0]
    wait = [0.0, 0.0, 0.0, 1.0]

    def model(p: float) -> list[list[list[float]]]:
        return [
            [through, wait if waiting else through],
            [[0.0, p, 1.0 - p, 0.0]] * 2,
            [[0.0, 0.0, 1.0, 0.0]] * 2,
            [[1.0, 0.0, 0.0, 0.0]] * 2,
        ]

    return built(model(1.0), model(0.0))


@pytest.mark.parametrize("waiting", [False, True])
def test_a_pit_before_the_place_that_tells_sets_a_limit(waiting: bool) -> None:
    """BC falls to 1/2 and no further: one path in two learns nothing."""
    simulators = gate(waiting=waiting)
    never = telling_apart(simulators, 0, 1, error=0.05)  # 2 sqrt(e (1 - e)) = 0.44
    assert ends(never) == (inf, inf)
    unsure = telling_apart(simulators, 0, 1, error=0.2)  # 0.8 and 0.4
    assert ends(unsure) == (2, inf)
    surely = telling_apart(simulators, 0, 1, error=0.3)
    assert ends(surely) == (2, 2)


@pytest.mark.parametrize("rest", [0, 1, 6])
def test_a_coin_on_a_circle_is_thrown_once_a_round(rest: int) -> None:
    """Periodic: of a round of rest + 2 steps only the first one tells anything."""
    p, q = 0.5, 0.502

    def circle(chance: float) -> list[list[list[float]]]:
        kernel = np.zeros((rest + 3, 1, rest + 3))
        kernel[0, 0, 1], kernel[0, 0, 2] = chance, 1.0 - chance
        for s in range(1, rest + 3):
            kernel[s, 0, (max(s, 2) + 1) % (rest + 3)] = 1.0
        return kernel.tolist()

    found = telling_apart(built(circle(p), circle(q)), 0, 1, most_steps=3000)
    low, high = ends(found)
    throws = [level / exponent(p, q) for level in (-log(2 * sqrt(0.0475)), log(10.0))]
    lower, upper = ((ceil(n) - 1) * (rest + 2) + 1 for n in throws)
    assert lower > 100_000  # far ahead of what is computed
    wrong = (rest + 2) / 900  # 900 steps hold a round more or less
    assert lower * (1 - wrong) <= low <= lower
    assert upper <= high <= upper * (1 + wrong)


def thin_ice(chance: float) -> list[list[list[float]]]:
    """Action 0 throws a coin in safety; action 1 throws a better one over a pit."""
    risky = [0.0, 0.1 + 2.0 * (chance - 0.5), 0.8 - 2.0 * (chance - 0.5), 0.1]
    return [
        [[chance, 0.0, 1.0 - chance, 0.0], risky],
        [[1.0, 0.0, 0.0, 0.0]] * 2,
        [[1.0, 0.0, 0.0, 0.0]] * 2,
        [[0.0, 0.0, 0.0, 1.0]] * 2,
    ]


def test_a_trap_that_can_be_avoided_leaves_an_upper_end_far_ahead() -> None:
    simulators = built(thin_ice(0.5), thin_ice(0.502))
    paths = shared_paths(simulators, 0, 1)
    lasting = never_silenced(paths)
    assert lasting is not None
    assert lasting.states.tolist() == [0, 2]
    assert lasting.row.tolist() == [0, 4, 5]
    first, last = ends(telling_apart(simulators, 0, 1))
    low, high = ends(telling_apart(simulators, 0, 1, most_steps=2000))
    assert 100_000 < low <= first < last <= high < 1.1 * last
    assert never_silenced(shared_paths(gate(waiting=True), 0, 1)) is None


def test_the_kernel_sweeps_as_its_twin() -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        one, _ = sparse_model(rng, 5, 2, 12).arrays()
        other, _ = dense_model(rng, 5, 2, 12).arrays()
        paths = shared_paths(built(one, other), 0, 1)
        values, series = np.ones(paths.n_places), np.empty(5)
        slow = [1.0] * paths.n_places
        arrays = (paths.groups, paths.indptr, paths.indices, paths.shared)
        groups, indptr, indices, shared = (each.tolist() for each in arrays)
        done = least_affinity(*arrays, paths.start, -1.0, values, series)
        assert done == 5
        for n in range(5):
            slow = twin.swept(groups, indptr, indices, shared, slow)
            assert series[n] == pytest.approx(float(paths.start @ slow), rel=1e-13)
        np.testing.assert_allclose(values, slow, rtol=1e-13)
        fresh = np.ones(paths.n_places)
        stop = least_affinity(*arrays, paths.start, series[2], fresh, np.empty(5))
        assert stop == int(np.argmax(series <= series[2])) + 1
