"""What randomization is worth: plans for one model, judged by trying all their ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.intervals import Certified
from simgap.mdp import Details, IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.baselines.baseline import Baseline
from simgap.oracle.baselines.table import baselines, value_of_randomization
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import ExactOracle
from tests.reference.latent import oracle_value, random_latent, rational
from tests.reference.memoryless import best_single_plan_value


def single(latent: LatentMDP, horizon: int, effort: float) -> Baseline:
    form = loss_form(latent, horizon=horizon)
    found = baselines(form, effort=effort)
    return next(each for each in found if each.name == "single-simulator")


def worth(latent: LatentMDP, horizon: int, effort: float = 0.1) -> Certified:
    found = domain_randomization_oracle(
        latent, horizon=horizon, solver=ExactOracle(episodes=2)
    )
    form = loss_form(latent, horizon=horizon)
    return value_of_randomization(form, found.value, single(latent, horizon, effort))


def misleading() -> LatentMDP:
    """Return a class where breaking ties one by one ends in a plan that is not best."""
    kernel = [
        [[[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0.25, 0.5, 0.25]],
         [[0, 0, 1], [0.75, 0.25, 0]]],
        [[[0.5, 0.5, 0], [0.25, 0, 0.75]], [[1, 0, 0], [0, 1, 0]],
         [[0.5, 0.5, 0], [0, 0.5, 0.5]]],
        [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0.5, 0.5]],
         [[0.5, 0.25, 0.25], [0.25, 0.75, 0]]],
    ]  # fmt: skip
    worlds = class_from_arrays(
        np.array(kernel),
        np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]),
        order=IndexOrder.STATE_ACTION,
        details=Details(start=np.array([0.25, 0.75, 0.0])),
    )
    return LatentMDP(worlds, np.array([5.0, 6.0, 5.0]) / 16.0)


def test_ties_are_exhausted_where_a_search_alone_is_misled() -> None:
    low, high = worth(misleading(), 4).ends
    assert Fraction(low) <= Fraction(0.005859375) <= Fraction(high)
    assert high - low < 1e-9


def test_without_the_work_to_try_all_ties_the_lower_end_is_zero() -> None:
    found = worth(misleading(), 4, effort=1e-7)
    assert found.ends[0] == 0.0
    assert found.ends[1] >= 0.005859375


def nearly_tied(part: float, rest: float, sure: float, *, horizon: int) -> LatentMDP:
    """Return two models with one good door each, and a door that is good in both.

    The good door pays `part` and then `rest`, the wrong one `part` and nothing, and the
    door that is good in both pays `sure`. More steps pay nothing.
    """
    start, full, empty = 0, 1, horizon
    kernel = np.zeros((2, horizon + 1, 3, horizon + 1))
    for model in range(2):
        kernel[model, start, :2, empty] = 1.0
        kernel[model, start, model] = 0.0
        kernel[model, start, model, full] = 1.0
        kernel[model, start, 2, empty] = 1.0
        for state in range(full, horizon):
            kernel[model, state, :, state + 1] = 1.0
        kernel[model, empty, :, empty] = 1.0
    rewards = np.zeros((horizon + 1, 3))
    rewards[start], rewards[full] = (part, part, sure), rest
    worlds = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    return LatentMDP.uniform(worlds)


def test_what_is_within_rounding_of_a_tie_is_no_tie() -> None:
    """.1 + .2 is more than .3: the plan for a model takes its door, which is wrong in
    the other, and all that randomization is worth is what the sure door adds."""
    part, rest, sure = 0.1, 0.2, 0.3
    one = (Fraction(part) + Fraction(rest) + Fraction(part)) / 2
    low, high = worth(nearly_tied(part, rest, sure, horizon=2), 2).ends
    assert Fraction(low) <= Fraction(sure) - one <= Fraction(high)
    assert high < float(Fraction(sure) - one) + 1e-12


def test_a_tie_that_is_one_counts() -> None:
    """The control: an eighth and a quarter are three eighths."""
    _, high = worth(nearly_tied(0.125, 0.25, 0.375, horizon=2), 2).ends
    assert high < 1e-12


def test_a_tie_that_nobody_proves_leaves_the_upper_end_open() -> None:
    """With too many steps for exact arithmetic both are possible."""
    steps = 200
    for part, rest, sure in ((0.1, 0.2, 0.3), (0.125, 0.25, 0.375)):
        low, high = worth(nearly_tied(part, rest, sure, horizon=steps), steps).ends
        assert low < 1e-12
        assert high >= sure - (part + rest + part) / 2


def of_all_ties(seed: int, count: int, most_histories: int) -> int:
    """Return how many problems have a value worth the name; fail if one is missed."""
    rng = np.random.default_rng([seed, 7])
    positive = 0
    for _ in range(count):
        latent, horizon = random_latent(
            rng, denominator=16, most_histories=most_histories
        )
        exact = rational(latent)
        best = best_single_plan_value(exact, horizon)
        if best is None:
            continue
        truth = oracle_value(exact, horizon) - best
        low, high = worth(latent, horizon).ends
        assert Fraction(low) <= truth <= Fraction(high)
        assert high - low < 1e-9  # all ties were tried
        positive += truth > Fraction(1, 1000)
    return positive


def test_the_value_is_that_of_trying_all_tied_tables() -> None:
    assert of_all_ties(0, 40, 80) > 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_the_value_is_that_of_trying_all_tied_tables_often(seed: int) -> None:
    assert of_all_ties(seed, 100, 300) > 10
