"""The bound on every policy of a short memory: all policies are the judge."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from simgap.arrays import FloatArray
from simgap.cli.verbs.demo import LAKES
from simgap.instances import bandit, riverswim
from simgap.instances.catalogue import build_instance
from simgap.mdp import Details, IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.baselines.coupled import least_by_coupling
from simgap.oracle.baselines.memoryless import best_plan
from simgap.oracle.baselines.windowed import window_nodes
from simgap.oracle.loss_form import LossForm, loss_form
from tests.reference.coupled import least_of_all_tables, pair_bound
from tests.reference.latent import exact_gap, random_latent, rational
from tests.reference.memoryless import (
    best_memoryless_value,
    every_stationary,
    stationary_gap,
)

WORK = 4e7
MOST_TABLES = 4096


def problems(seed: int, count: int, denominator: int = 8) -> Iterator[LossForm]:
    """Return random problems with few tables in which no table is perfect."""
    rng = np.random.default_rng(seed)
    while count:
        latent, horizon = random_latent(rng, denominator=denominator)
        form = loss_form(latent, horizon=horizon)
        size = form.pattern.n_states * form.steps
        if form.pattern.n_actions**size > MOST_TABLES:
            continue
        if denominator == 8 and least_of_all_tables(latent, horizon) == 0.0:
            continue
        count -= 1
        yield form


def parts_of_the_best(seed: int, count: int) -> list[float]:
    """Return bound / best of many problems; no bound is above the best."""
    parts = []
    for form in problems(seed, count):
        best = least_of_all_tables(form.latent, form.steps)
        bound = least_by_coupling(form, 0, WORK)
        assert bound <= best  # both are exact: rows, rewards and prior are eighths
        parts.append(bound / best)
    return parts


def test_no_policy_without_memory_is_below_the_bound() -> None:
    parts = parts_of_the_best(1, 120)
    assert np.median(parts) > 0.9
    assert np.quantile(parts, 0.1) > 0.4


@pytest.mark.slow
def test_no_policy_without_memory_is_below_the_bound_in_two_thousand_classes() -> None:
    """Measured: bound / best is 0.978 in the median, 0.62 at 5 %, 0.33 at least."""
    parts = parts_of_the_best(2, 2000)
    assert np.median(parts) > 0.95
    assert np.quantile(parts, 0.05) > 0.6


def test_numbers_that_are_not_eighths_are_judged_in_fractions() -> None:
    """What is stored is what counts: rounding of losses and bound together."""
    for denominator in (7, 10):
        for form in problems(denominator, 4, denominator):
            exact = rational(form.latent)
            informed = sum(
                p * v
                for p, v in zip(exact.prior, exact.optimal(form.steps), strict=True)
            )
            least = informed - best_memoryless_value(exact, form.steps)
            bound = least_by_coupling(form, 0, WORK)
            assert Fraction(bound) - Fraction(form.rounding) <= least


@pytest.mark.parametrize("window", [1, 2])
def test_a_window_as_long_as_the_episode_is_judged_by_the_oracle(window: int) -> None:
    """The first step needs no memory, so a window of H - 1 is a full memory."""
    rng, useful = np.random.default_rng(window), 0
    for _ in range(40):
        latent, _ = random_latent(rng, denominator=8)
        form = loss_form(latent, horizon=window + 1)
        bound = least_by_coupling(form, window, WORK)
        assert Fraction(bound) <= exact_gap(latent, window + 1)
        useful += bound > 0.0
    assert useful


def test_no_policy_with_a_window_of_one_is_below_the_bound() -> None:
    rng, useful = np.random.default_rng(7), 0
    for _ in range(8):
        arms = bandit(rng.integers(0, 9, (int(rng.integers(2, 5)), 2)) / 8.0)
        prior = 1 + rng.multinomial(8 - len(arms), [1.0 / len(arms)] * len(arms))
        latent = LatentMDP(arms, prior / 8.0)
        form = loss_form(latent, horizon=4)
        best = least_of_all_tables(latent, 4, window_nodes(form.pattern, 1))
        bound = least_by_coupling(form, 1, WORK)
        assert bound <= best
        useful += bound > 0.3 * best > 0.0
    assert useful > 2


def test_with_a_discount_no_stationary_policy_is_below_the_bound() -> None:
    rng, useful = np.random.default_rng(3), 0
    for form in problems(4, 25):
        discounted = loss_form(form.latent, discount=0.75)
        best = min(stationary_gap(discounted, each) for each in every_stationary(form))
        bound = least_by_coupling(discounted, 0, WORK)
        room = discounted.rounding + 1e-12  # linear algebra in doubles judges here
        assert bound <= best + room
        useful += bound > 0.5 * best
        for _ in range(5):  # random ones, too
            shape = (form.pattern.n_states, form.pattern.n_actions)
            chances = rng.dirichlet(np.full(shape[1], 0.5), shape[0])
            assert bound <= _discounted_gap(discounted, chances) + room
    assert useful > 10


def _discounted_gap(form: LossForm, chances: FloatArray) -> float:
    total = 0.0
    for m, prior in enumerate(form.latent.prior):
        kernel = form.latent.simulators.transitions.array(m)
        moves = np.einsum("sa,sat->st", chances, kernel)
        paid = (chances * form.losses[0, :, :, m]).sum(axis=1)
        gaps = np.linalg.solve(np.eye(len(moves)) - form.discount * moves, paid)
        total += float(prior * (form.latent.simulators.start_law(m) @ gaps))
    return total


def never(one: object, two: object) -> bool:
    return False


def always(one: object, two: object) -> bool:
    return True


def test_the_rule_of_acting_alike_is_what_proves_and_no_more_may_be_asked() -> None:
    """Controls: without the rule nothing is proved, with too much of it too much."""
    caught = 0
    for form in problems(5, 12):
        prior = form.latent.prior
        first, second = np.flatnonzero(prior)[:2]
        weight = float(prior[first] / (prior[first] + prior[second]))
        times = float(prior[first] + prior[second])
        best = Fraction(least_of_all_tables(form.latent, form.steps))

        pair = int(first), int(second)
        free, held = (
            pair_bound(form, pair, weight, steps=form.steps, alike=rule)
            for rule in (never, always)
        )
        assert free == 0
        caught += Fraction(times) * held > best
    assert caught


@pytest.mark.parametrize("window", [0, 1])
def test_nothing_is_lost_where_nothing_is_hidden(window: int) -> None:
    """One model, equal models, no rewards, weight in one model alone."""
    rivers = riverswim(4, (0.1, 0.6), left_reward=0.4)
    one = riverswim(4, (0.1,), left_reward=0.4)
    kernels = np.stack([rivers.transitions.array(m) for m in (0, 0, 1)])
    alike = class_from_arrays(kernels[:2], rivers.rewards[0])
    free = class_from_arrays(kernels, np.full((4, 2), -3.0))
    for latent in (
        LatentMDP.uniform(one),
        LatentMDP.uniform(alike),
        LatentMDP.uniform(free),
        LatentMDP(rivers, np.array([0.0, 1.0])),
    ):
        for form in (loss_form(latent, horizon=9), loss_form(latent, discount=0.9)):
            assert least_by_coupling(form, window, WORK) <= form.rounding


def test_shifted_and_scaled_rewards_shift_nothing_and_scale_the_bound() -> None:
    for form in problems(6, 10):
        simulators = form.latent.simulators
        members = range(len(simulators))
        kernels = np.stack([simulators.transitions.array(m) for m in members])
        shape = (len(simulators), *kernels.shape[1:3])
        rewards = np.broadcast_to(simulators.rewards, shape)
        moved = class_from_arrays(
            kernels,
            16.0 * rewards - 40.0,
            order=IndexOrder.STATE_ACTION,
            details=Details(start=simulators.start),
        )
        other = loss_form(LatentMDP(moved, form.latent.prior), horizon=form.steps)
        assert least_by_coupling(other, 0, WORK) == pytest.approx(
            16.0 * least_by_coupling(form, 0, WORK), rel=1e-9
        )


def test_small_weights_and_small_losses_do_not_drown() -> None:
    """A program is solved to 1e-7: that must not be seen in what is returned."""
    arms = [[0.9, 0.1], [0.1, 0.9]]
    two = loss_form(LatentMDP.uniform(bandit(arms)), horizon=6)
    bound = least_by_coupling(two, 0, WORK)
    rare = np.array([1e-10, 0.5, 0.5 - 1e-10])
    three = LatentMDP(bandit([[0.1, 0.8], *arms]), rare)
    found = least_by_coupling(loss_form(three, horizon=6), 0, WORK)
    assert found == pytest.approx(bound, rel=1e-6)
    latent = LatentMDP(bandit([[0.9, 0.1], [0.1, 0.9]]), np.array([1e-10, 1.0 - 1e-10]))
    thin = loss_form(latent, horizon=6)
    best = best_plan(thin, window_nodes(thin.pattern, 0), [], effort=0.1).average
    assert 0.3 * best < least_by_coupling(thin, 0, WORK) <= best
    kernels = np.stack([two.latent.simulators.transitions.array(m) for m in (0, 1)])
    tiny = class_from_arrays(
        kernels, 1e-9 * two.latent.simulators.rewards[0], order=IndexOrder.STATE_ACTION
    )
    small = loss_form(LatentMDP.uniform(tiny), horizon=6)
    assert least_by_coupling(small, 0, WORK) == pytest.approx(1e-9 * bound, rel=1e-6)


@pytest.mark.parametrize("wrong", [10.0, 0.5, -1.0])
def test_the_linear_program_is_not_trusted(
    wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that uses up more than the prior, or less, costs the bound alone."""

    def astray(*given: Any, **more: Any) -> Any:
        solved = linprog(*given, **more)
        solved.x = wrong * solved.x
        return solved

    forms = list(problems(8, 10))
    honest = [least_by_coupling(form, 0, WORK) for form in forms]
    monkeypatch.setattr("scipy.optimize.linprog", astray)
    for form, bound in zip(forms, honest, strict=True):
        found = least_by_coupling(form, 0, WORK)
        assert found <= least_of_all_tables(form.latent, form.steps)
        assert found == pytest.approx(bound * min(1.0, max(wrong, 0.0)), rel=0.2)


def test_four_frozen_lakes_need_memory() -> None:
    """The demo: at least 0.28 is lost without memory, at most 0.135 with it."""
    form = loss_form(LatentMDP.uniform(build_instance(LAKES)), horizon=200)
    assert least_by_coupling(form, 0, 4e8) > 0.28
