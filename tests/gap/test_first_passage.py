"""The gap of Algorithm 3: all histories, closed forms, sampling, invariants."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import FloatArray
from simgap.gap.first_passage import EliminationTests, OptimisticGap, first_passage_gap
from simgap.instances import bandit, riverswim
from simgap.intervals import Certified
from simgap.mdp import SimulatorClass, TabularMDP, Transitions
from simgap.planning import (
    AverageRewardPlan,
    diameter,
    optimal_values,
    policy_values,
    solve_average_reward,
)
from tests.gap.first_passage_cases import RIVERS, ends, middle, sharp
from tests.reference import episodic as twin
from tests.reference.first_passage import Rules, Story, tell
from tests.reference.rational import RationalMDP, stored
from tests.strategies import STEADY, as_class, rational_classes, start_laws


def literal(simulators: SimulatorClass, horizon: int) -> EliminationTests:
    """D sqrt(2 (h - h0) log(2 H M)): nothing at the first step (errata E17)."""
    M, D = len(simulators), diameter(simulators).upper
    row = D * np.sqrt(2.0 * np.arange(horizon) * log(2.0 * horizon * M))
    return EliminationTests(np.tile(row, (M, 1)), np.full(M, 1e-9))


def assert_holds(bracket: Certified, exact: Fraction, width: float = 1e-11) -> None:
    low, high = ends(bracket)
    assert Fraction(low) <= exact <= Fraction(high)
    assert high - low <= width


# All histories, in exact arithmetic


def story_of(
    real: TabularMDP, plan: AverageRewardPlan, tests: EliminationTests, horizon: int
) -> Story:
    """Algorithm 3 as theory 3.2 prints it, with the numbers as they are stored."""
    fractions = [[Fraction(float(x)) for x in row] for row in plan.bias]
    total = tests.thresholds + tests.tolerance[:, None]
    rules = Rules(
        models=[stored(model) for model in plan.simulators],
        biases=fractions,
        policies=plan.policy.tolist(),
        thresholds=[[Fraction(float(x)) for x in row] for row in total],
        order=sorted(range(len(fractions)), key=lambda k: (-plan.gain[k], k)),
        two_sided=tests.two_sided,
    )
    law = [Fraction(float(p)) for p in real.as_class().start_law(0)]
    return tell(stored(real), rules, law, horizon)


@STEADY
@given(
    rational_classes(members=(1, 3), most=(3, 2)),
    st.integers(0, 7),
    st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.5]),
    st.booleans(),
    st.data(),
)
def test_brackets_hold_what_all_histories_come_to(
    models: list[RationalMDP],
    horizon: int,
    scale: float,
    two_sided: bool,
    data: st.DataObject,
) -> None:
    law = np.array(data.draw(start_laws(models[0].n_states)))
    simulators = as_class(models, start=law)
    real = simulators[data.draw(st.integers(0, len(models) - 1))]
    plan = solve_average_reward(simulators)
    steps = np.sqrt(np.arange(1, horizon + 1))
    tests = EliminationTests(
        scale * plan.bias_span[:, None] * steps, np.full(len(models), 1e-9), two_sided
    )
    found = first_passage_gap(real, plan, tests, horizon)
    story = story_of(real, plan, tests, horizon)
    exact = stored(real)
    best = twin.optimal_values(exact.transitions, exact.rewards, horizon)[0]
    start = [Fraction(float(p)) for p in law]
    top = sum((p * v for p, v in zip(start, best, strict=True)), Fraction(0))
    assert_holds(found.gap, top - story.reward)
    gain = Fraction(float(solve_average_reward(real).gain[0]))
    assert_holds(found.regret, horizon * gain - story.reward)
    assert_holds(found.eliminations, story.eliminations)
    assert_holds(found.exhausted, story.exhausted)
    for k in range(len(models)):
        assert_holds(found.eliminated[k], story.eliminated[k])
        assert_holds(found.steps[k], story.steps[k])


def test_rows_that_sum_to_one_only_nearly_count_as_divided_by_their_sums() -> None:
    river, horizon = riverswim(3, 0.35)[0], 6
    kernel = river.transitions
    scaled = kernel.values * (1.0 + 9e-10)
    off = Transitions(3, 2, kernel.indptr, kernel.indices, scaled)
    real = TabularMDP(off, river.rewards, 0)
    plan = solve_average_reward(river)
    tests = sharp(plan, horizon, 0.2)
    found = first_passage_gap(real, plan, tests, horizon)
    exact = stored(real)
    best = twin.optimal_values(exact.transitions, exact.rewards, horizon)[0]
    story = story_of(real, plan, tests, horizon)
    assert_holds(found.gap, best[0] - story.reward, width=1e-6)
    assert_holds(found.eliminations, story.eliminations, width=1e-6)


# Theory rows 32 to 34


@pytest.mark.parametrize(
    ("horizon", "chance"), [(50, 1.36514e-4), (200, 2.2117e-5), (1000, 1.9938e-6)]
)
def test_a_fair_coin_is_given_up_as_rarely_as_row_32_says(
    horizon: int, chance: float
) -> None:
    coin = bandit((0.5,))
    plan = solve_average_reward(coin)
    found = first_passage_gap(coin[0], plan, sharp(plan, horizon), horizon)
    low, high = ends(found.eliminated[0])
    assert low <= high <= 1.0 / horizon  # Theorem 6
    assert high - low <= 1e-9 * chance
    assert low == pytest.approx(chance, rel=5e-5)
    assert found.exhausted == found.eliminated[0]
    assert ends(found.gap)[1] <= 1e-10  # one action: nothing to lose
    # A threshold that forgets the square is another one, and shows.
    wrong = sharp(plan, horizon, sqrt(log(2.0 * horizon) / log(2.0 * horizon**2)))
    seen = first_passage_gap(coin[0], plan, wrong, horizon)
    assert ends(seen.eliminated[0])[0] > 20.0 * chance


@pytest.mark.parametrize("horizon", [1, 50])
def test_the_printed_threshold_gives_up_the_truth_at_the_first_step(
    horizon: int,
) -> None:
    """Theory row 33, errata E17; a single candidate is taken up again and given up."""
    coin = bandit((0.5,))
    plan = solve_average_reward(coin)
    found = first_passage_gap(coin[0], plan, literal(coin, horizon), horizon)
    assert_holds(found.eliminated[0], Fraction(1))
    assert_holds(found.eliminations, Fraction(horizon))


@pytest.mark.parametrize(("horizon", "chance"), [(3, 0), (4, 1)])
def test_the_printed_threshold_empties_the_class_of_row_34_at_step_4(
    horizon: int, chance: int
) -> None:
    rivers = riverswim(6, (0.35, 0.25, 0.45, 0.30))
    plan = solve_average_reward(rivers)
    for real in rivers:
        found = first_passage_gap(real, plan, literal(rivers, horizon), horizon)
        assert_holds(found.exhausted, Fraction(chance))


# Sampling


def simulate(
    real: TabularMDP,
    plan: AverageRewardPlan,
    tests: EliminationTests,
    horizon: int,
    runs: int,
) -> tuple[FloatArray, FloatArray]:
    """Rewards (runs,) and whether candidates were ever eliminated (M, runs)."""
    rng = np.random.default_rng(77)
    M, lanes = len(plan.gain), np.arange(runs)
    order = np.argsort(-plan.gain, kind="stable")
    up = np.cumsum(real.transitions.array(0), axis=2)
    bound = tests.thresholds + tests.tolerance[:, None]
    state = np.zeros(runs, np.int64)
    first, n, number = state.copy(), state.copy(), state.copy()
    earned, reward = np.zeros(runs), np.zeros(runs)
    gone = np.zeros((M, runs))
    for _ in range(horizon):
        k = order[number % M]
        action = plan.policy[k, state]
        pay = real.rewards[state, action]
        reward += pay
        earned += pay
        draw = rng.random(runs)
        state = (draw[:, None] > up[state, action]).sum(axis=1)
        n += 1
        stat = n * plan.gain[k] - earned + plan.bias[k, first] - plan.bias[k, state]
        out = np.abs(stat) > bound[k, n - 1]
        gone[k[out], lanes[out]] = 1.0
        number += out
        n[out], earned[out] = 0, 0.0
        first = np.where(out, state, first)
    return reward, gone


@pytest.mark.parametrize(("member", "scale"), [(0, 0.1), (2, 0.05), (4, 0.05)])
def test_sampling_agrees_and_sees_a_threshold_that_is_off(
    member: int, scale: float
) -> None:
    horizon, runs = 600, 10_000
    plan, real = solve_average_reward(RIVERS), RIVERS[member]
    found = first_passage_gap(real, plan, sharp(plan, horizon, scale), horizon)
    other = first_passage_gap(real, plan, sharp(plan, horizon, 1.3 * scale), horizon)
    reward, gone = simulate(real, plan, sharp(plan, horizon, scale), horizon, runs)
    best = float(optimal_values(real, horizon).start[0])
    error = float(reward.std()) / sqrt(runs)
    assert abs(best - reward.mean() - middle(found.gap)) < 4.0 * error
    assert abs(best - reward.mean() - middle(other.gap)) > 6.0 * error
    for k in range(5):
        chance = middle(found.eliminated[k])
        error = sqrt(chance * (1.0 - chance) / runs) + 1.0 / runs
        assert abs(gone[k].mean() - chance) < 4.0 * error


# Invariants


def test_without_tests_it_is_the_policy_of_the_most_optimistic_candidate() -> None:
    plan, horizon = solve_average_reward(RIVERS), 3000
    never = EliminationTests(np.full((5, horizon), np.inf), np.zeros(5))
    for member, real in enumerate(RIVERS):
        found = first_passage_gap(real, plan, never, horizon)
        best = optimal_values(real, horizon)
        kept = policy_values(real, plan.policy[4], horizon)
        wanted = float(best.start[0] - kept.start[0])
        room = float(best.error[0] + kept.error[0])
        low, high = ends(found.gap)
        assert low - room <= wanted <= high + room
        assert ends(found.steps[4])[1] == horizon
        assert ends(found.eliminated[member])[1] == 0.0


def test_a_random_start_is_a_mean_over_starts() -> None:
    plan, horizon = solve_average_reward(RIVERS), 400
    tests = sharp(plan, horizon, 0.1)
    law = np.array([0.25, 0.0, 0.5, 0.0, 0.0, 0.25])

    def started(start: object) -> OptimisticGap:
        real = RIVERS[1]
        moved = TabularMDP(real.transitions, real.rewards, start)  # type: ignore[arg-type]
        return first_passage_gap(moved, plan, tests, horizon)

    alone = [started(state) for state in range(6)]
    found = started(law)
    for quantity in ("gap", "regret", "eliminations", "exhausted"):
        parts = [middle(getattr(each, quantity)) for each in alone]
        mean = float(law @ np.array(parts))
        assert middle(getattr(found, quantity)) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("scale", [0.02, 0.1, 1.0])
def test_every_step_is_played_by_some_candidate(scale: float) -> None:
    plan, horizon = solve_average_reward(RIVERS), 300
    found = first_passage_gap(RIVERS[3], plan, sharp(plan, horizon, scale), horizon)
    assert sum(middle(each) for each in found.steps) == pytest.approx(horizon, rel=1e-9)
    later = [middle(found.eliminated[k]) for k in found.order]
    assert all(a >= b for a, b in pairwise(later))


def test_another_order_is_another_algorithm() -> None:
    plan, horizon = solve_average_reward(RIVERS), 300
    tests = sharp(plan, horizon, 0.1)
    by_gain = first_passage_gap(RIVERS[0], plan, tests, horizon)
    told = first_passage_gap(RIVERS[0], plan, tests, horizon, order=[4, 3, 2, 1, 0])
    assert by_gain.order.tolist() == [4, 3, 2, 1, 0]
    assert told.gap == by_gain.gap
    honest = first_passage_gap(RIVERS[0], plan, tests, horizon, order=[0, 1, 2, 3, 4])
    assert middle(honest.gap) < 0.01 * middle(by_gain.gap)
