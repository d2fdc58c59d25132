"""Stage 1 of Algorithm 1: how long it takes, how often it errs, what the gap is.

Levels: a guarantee counts as contradicted if its binomial tail is below LEVEL; controls
with a threshold that is too low must be contradicted at the same level.
"""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from simgap.arrays import AnyArray
from simgap.base_policies.paper.comparison import Comparison
from simgap.base_policies.paper.elimination import Elimination, elimination
from simgap.base_policies.paper.stage_one import stage_one
from simgap.base_policies.paper.travel_plan import TravelBudget, TravelSet, travel_plan
from simgap.bounds.comparisons import Chernoff
from simgap.bounds.upper import elimination_gap
from simgap.errors import InvalidArgument
from simgap.instances import riverswim, switch_tree
from simgap.planning import diameter
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.runs import run_program
from simgap.statistics import estimated_rate
from tests.base_policies.cases import prepared, random_class
from tests.base_policies.elimination_cases import Eager, coins

LEVEL = 1e-6
GUARANTEED = [each for each in Comparison if each is not Comparison.PAPER]


def tossing(horizon: int, comparison: Comparison, failure: float) -> Elimination:
    """Return the agent for three coins: every step of stage 1 is a sample."""
    return elimination(
        coins(0.2, 0.5, 0.8),
        horizon,
        comparison=comparison,
        failure=failure,
        signal=RewardSignal.RANDOM,
    )


def forward(agent: Elimination, truth: int, start: int = 0) -> tuple[float, float]:
    """Return the exact chance that the truth is dropped, and E[length of stage 1].

    Memories are hashable: all histories are followed at once, merged where equal.
    """
    observed, n_actions = agent.observed, agent.known.simulators.n_actions
    sees = observed.signal is not RewardSignal.UNSEEN
    here = {(agent.start(start), start): 1.0}
    steps = 0.0
    for h in range(agent.horizon):
        steps += sum(p for (memory, _), p in here.items() if memory.pair is not None)
        after: dict[tuple[object, int], float] = {}
        for (memory, state), p in here.items():
            action = int(agent.act(memory, h, state).argmax())
            row = state * n_actions + action
            for e in range(int(observed.indptr[row]), int(observed.indptr[row + 1])):
                chance = float(observed.chances[truth, e])
                if chance > 0.0:
                    to = int(observed.next_state[e])
                    reward = float(observed.seen_reward[e]) if sees else None
                    step = Step(h, state, action, to, reward)
                    key = (agent.observe(memory, step), to)
                    after[key] = after.get(key, 0.0) + p * chance
        here = after  # type: ignore[assignment]
    lost = sum(p for (memory, _), p in here.items() if truth not in memory.alive)
    return lost, steps


def contradicted(errors: int, runs: int, allowed: float) -> bool:
    """Whether so many errors are too many for a chance of at most `allowed`."""
    return bool(binom.sf(errors - 1, runs, allowed) < LEVEL)


@pytest.mark.parametrize("comparison", GUARANTEED)
def test_the_exact_chance_to_drop_the_truth_is_within_the_guarantee(
    comparison: Comparison,
) -> None:
    """All histories of coins: an exact number, not an estimate."""
    agent = tossing(60, comparison, failure=0.25)
    loose = tossing(60, comparison, failure=1.0)
    losses = [forward(agent, truth)[0] for truth in range(3)]
    assert max(losses) <= agent.rounds.guarantee
    # the control: a threshold made for failure 1 breaks the guarantee of 1/20
    assert max(forward(loose, truth)[0] for truth in range(3)) > 0.05
    # and the compiled agent errs as often as the exact numbers say
    for found in run_program(agent, prepared(agent), runs=20_000, seed=3):
        exact = losses[found.model]
        errors = int(found.truth_eliminated.sum())
        assert binom.cdf(errors, 20_000, exact) > LEVEL
        assert binom.sf(errors - 1, 20_000, exact) > LEVEL


@pytest.mark.parametrize("comparison", GUARANTEED)
def test_exact_errors_and_lengths_on_rivers_agree_with_sampling(
    comparison: Comparison,
) -> None:
    """Travel included: two rivers, all histories of 30 steps."""
    agent = elimination(
        riverswim(3, (0.2, 0.9)), 30, comparison=comparison, failure=0.4
    )
    for found in stage_one(agent, runs=20_000, seed=8, confidence=1.0 - LEVEL):
        lost, steps = forward(agent, found.model)
        assert lost <= agent.rounds.guarantee
        assert found.wrong.lower <= lost <= found.wrong.upper
        assert found.steps.lower <= steps <= found.steps.upper


@pytest.mark.parametrize("comparison", GUARANTEED)
def test_the_truth_is_dropped_less_than_once_in_h_episodes(
    comparison: Comparison,
) -> None:
    """Lemma 4 at H = 400, 18000 runs, exact binomial test at level 1e-6."""
    horizon, runs = 400, 6_000
    agent = tossing(horizon, comparison, failure=1.0 / horizon)
    errors = 0
    for found in run_program(agent, prepared(agent), runs=runs, seed=5):
        assert (found.identified >= 0).all()
        errors += int(found.truth_eliminated.sum())
    assert not contradicted(errors, 3 * runs, agent.rounds.guarantee)
    loose = tossing(horizon, comparison, failure=1.0)
    errors = sum(
        int(found.truth_eliminated.sum())
        for found in run_program(loose, prepared(loose), runs=runs, seed=5)
    )
    assert contradicted(errors, 3 * runs, 1.0 / horizon)


def test_two_coins_need_fewer_samples_than_promised() -> None:
    """Theory 3.1: exact means of the sequential tests, against their bounds."""
    horizon, apart = 160, 0.6
    for means in ((0.2, 0.5), (0.5, 0.8)):
        for comparison in (Comparison.TRUNCATED_SPRT, Comparison.ANYTIME):
            agent = elimination(
                coins(*means),
                horizon,
                comparison=comparison,
                signal=RewardSignal.RANDOM,
            )
            odds = agent.rounds.odds
            assert odds == 2 * horizon
            bound = (4.0 * log(2.0 * odds) + 8.0) / apart**2 + 2.0
            if comparison is Comparison.ANYTIME:
                bound = 32.0 * (log(odds) + 1.0) / apart**2 + 2.0
                assert agent.rounds.mean_samples == pytest.approx(bound)
            for truth in (0, 1):
                mean = forward(agent, truth)[1]
                assert log(odds) / 4.0 < mean <= bound


@pytest.mark.parametrize("comparison", GUARANTEED)
@pytest.mark.parametrize("travel", list(TravelSet))
def test_lemma_7_bounds_the_mean_length_of_stage_one(
    comparison: Comparison, travel: TravelSet
) -> None:
    rivers = riverswim(4, (0.35, 0.15, 0.75))
    members, horizon = 3, 50_000
    agent = elimination(rivers, horizon, comparison=comparison, travel=travel)
    wide = diameter(rivers).upper
    factor = 2.0 * wide * (members + 2) + 1.0
    if travel is TravelSet.ALL:
        factor = 4.0 * wide * members + 1.0
    samples = agent.rounds.mean_samples
    for found in stage_one(agent, runs=300, seed=7, confidence=1.0 - LEVEL):
        assert found.unfinished == 0
        assert found.steps.upper <= samples * (members - 1) * factor
        if comparison is Comparison.CHERNOFF:
            # the control: without the cost of travel the bound is broken
            assert found.steps.lower > samples * (members - 1)


def test_the_published_length_on_a_four_state_river() -> None:
    """Theory row 39: D = 17.96, stage 1 took 1080-1600 steps at H = 2000."""
    rivers = riverswim(4, (0.35, 0.15, 0.75))
    assert diameter(rivers).upper == pytest.approx(17.96, abs=0.01)
    agent = elimination(rivers, 2_000)
    found = stage_one(agent, runs=200, seed=0)
    for each in found:
        assert each.unfinished == 0
        assert each.wrong.estimate == 0.0
    assert min(each.lengths.min() for each in found) > 1_000
    assert max(each.lengths.max() for each in found) < 1_900


def test_the_gap_is_within_theorem_5() -> None:
    for worlds in (riverswim(4, (0.35, 0.15, 0.75)), switch_tree(2, 2, 0.3, 3)):
        apart = elimination(worlds, 10).rounds.separation.value
        wide = diameter(worlds).upper
        for horizon in (200, 20_000, 10**6):
            bound = elimination_gap(
                Chernoff(apart), horizon=horizon, members=3, diameter=wide
            )
            agent = elimination(worlds, horizon)
            real = prepared(agent)
            for found in run_program(agent, real, runs=60, seed=3):
                reach = 5.0 * found.gap.std() / sqrt(60)
                assert found.gap.mean() + reach <= min(bound.value, horizon)
                assert found.gap.mean() + reach >= -float(real.rounding[found.model])


def test_rows_36_time_optimal_policies_arrive_in_time_half_the_time() -> None:
    """P(T <= floor(2 D)) >= 1/2 from every state, and floor(2 t) from each state."""
    least = 1.0  # the control: the chance to arrive within a quarter of the steps
    for seed in range(200):
        rng = np.random.default_rng(seed)
        world = random_class(rng, members=1, states=3 + seed % 3)
        n = world.n_states
        everywhere = np.arange(2 * n, dtype=np.int32)
        P = world[0].transitions.array(0)
        for budget in TravelBudget:
            plan = travel_plan(world, everywhere, budget)
            for target in range(n):
                chain = P[np.arange(n), plan.policy[target, 0]]
                chain[target] = np.eye(n)[target]
                for start in range(n):
                    steps = plan.lead(0, start, target)
                    arrived = np.linalg.matrix_power(chain, steps)[start, target]
                    assert arrived >= 0.5 - 1e-12
                    early = np.linalg.matrix_power(chain, steps // 4)[start, target]
                    least = min(least, float(early))
    assert least < 0.5


def test_the_exact_tail_is_unbiased() -> None:
    rivers = riverswim(5, (0.2, 0.4, 0.6), left_reward=0.6, uniform=True)
    agent = elimination(rivers, 20_000, comparison=Comparison.ANYTIME)
    real, runs = prepared(agent), 400
    values = agent.ending.values
    shifted = tuple(None if v is None else v + 0.7 for v in values)
    wrong = replace(agent, ending=replace(agent.ending, values=shifted))
    for short, bad, full in zip(
        run_program(agent, real, runs=runs, seed=4),
        run_program(wrong, real, runs=runs, seed=4),
        run_program(Eager(agent, lazy=True, tail=False), real, runs=runs, seed=4),
        strict=True,
    ):
        rounding = 2.0 * float(real.rounding[short.model])
        for name in ("gap", "regret", "reward"):
            one, other, control = (getattr(x, name) for x in (short, full, bad))
            assert _apart(one - other, rounding) < 5.0
            if name != "reward":  # too noisy to tell
                assert _apart(control - other, rounding) > 5.0
        assert short.simulated.sum() < 0.2 * full.simulated.sum()


def test_error_rates_have_the_interval_of_clopper_and_pearson() -> None:
    for errors, runs in ((0, 50), (3, 200), (50, 50), (1, 1), (117, 2_000)):
        ours = estimated_rate(errors, runs, 0.99)
        theirs = binomtest(errors, runs).proportion_ci(0.99, method="exact")
        assert ours.lower == pytest.approx(theirs.low, abs=1e-12)
        assert ours.upper == pytest.approx(theirs.high, abs=1e-12)
    with pytest.raises(InvalidArgument):
        estimated_rate(3, 2)
    with pytest.raises(InvalidArgument, match="confidence"):
        stage_one(tossing(50, Comparison.ANYTIME, 0.5), runs=2, seed=0, confidence=1.0)


def _apart(differences: AnyArray, rounding: float) -> float:
    """Return by how many standard errors a mean differs from 0, rounding apart."""
    error = float(differences.std(ddof=1)) / sqrt(differences.size)
    return max(0.0, abs(float(differences.mean())) - rounding) / max(error, 1e-300)
