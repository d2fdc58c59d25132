"""What the oracle is compared with: numbers, order, certainty, and what they cost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import (
    absorbing_doors,
    best_arm,
    garnet_mixture,
    linear_bandit,
    riverswim,
)
from simgap.intervals import NOTHING_KNOWN, Certified, Estimate
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle.baselines import (
    Baseline,
    baselines,
    value_of_memory,
    value_of_randomization,
)
from simgap.oracle.baselines.history_values import gaps_by_histories
from simgap.oracle.baselines.tracking import (
    estimated_sampling,
    sampling_policy,
)
from simgap.oracle.estimate import estimated_gap
from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.settings import ExactOracle
from simgap.planning import policy_values
from simgap.policies.belief import BeliefPolicy
from simgap.policies.markov import MarkovPolicy
from simgap.policies.window import WindowPolicy
from tests.reference.latent import random_latent, rational
from tests.reference.memoryless import best_memoryless_value

NAMES = (
    "informed", "single-simulator", "mean-model", "memoryless", "window-1", "window-2",
    "greedy-posterior", "posterior-sampling", "minimax",
)  # fmt: skip


def of(
    simulators: SimulatorClass, *, effort: float = 0.05, **kind: Any
) -> tuple[LossForm, dict[str, Baseline]]:
    form = loss_form(LatentMDP.uniform(simulators), **kind)
    found = {each.name: each for each in baselines(form, effort=effort)}
    assert tuple(found) == NAMES
    return form, found


def ends(value: Certified | Estimate) -> tuple[float, float]:
    assert value.lower is not None and value.upper is not None
    return value.lower, value.upper


def middle(value: Certified | Estimate) -> float:
    return sum(ends(value)) / 2.0


def exact(gaps: FloatArray | tuple[Estimate, ...]) -> FloatArray:
    assert not isinstance(gaps, tuple)
    return gaps


def test_two_arms_for_four_steps_by_hand() -> None:
    """Theory row 15, e = .1, three pulls: W* = 1.6605, one arm 1.65, arms in turn.

    Without memory the second and third pull may depend on the state alone: staying
    after a win and moving after a loss are worth 1.6555.
    """
    _, found = of(best_arm(2, 0.1), horizon=4)
    wanted = {
        "informed": 1.8,
        "single-simulator": 1.65,
        "memoryless": 1.6555,
        "window-1": 1.6605,
        "window-2": 1.6605,
        "greedy-posterior": 1.6605,
        "minimax": 1.6605,
    }
    for name, value in wanted.items():
        assert middle(found[name].value) == pytest.approx(value), name
        assert found[name].certainty == "certified"
    assert found["single-simulator"].cross_gaps == pytest.approx(
        np.array([[0.0, 0.3], [0.3, 0.0]])
    )


@pytest.mark.parametrize("members", [2, 4])
def test_before_closed_doors_every_agent_but_the_informed_is_alike(
    members: int,
) -> None:
    """Proposition 1 (theory row 22): neither memory nor chance is worth anything."""
    form, found = of(absorbing_doors(members), horizon=8)
    for name, each in found.items():
        wanted = 0.0 if name == "informed" else 6.0 * (1.0 - 1.0 / members)
        assert middle(each.average_gap) == pytest.approx(wanted, abs=1e-11), name
    value = Certified(6.0 / members, 6.0 / members)
    memory = value_of_memory(form, value, found["memoryless"])
    assert ends(memory) == pytest.approx((0.0, 0.0), abs=1e-11)
    assert found["single-simulator"].worst_gap == pytest.approx(6.0)
    assert found["minimax"].worst_gap == pytest.approx(6.0 * (1.0 - 1.0 / members))


def test_proposition_2_separates_the_worst_model_from_the_average() -> None:
    """Theory row 23, H = 5: all that lose least on average lose 2 in one model."""
    _, found = of(linear_bandit(25), horizon=5)
    for name in ("single-simulator", "memoryless", "window-1", "greedy-posterior"):
        assert found[name].worst_gap == pytest.approx(2.0)
        assert middle(found[name].average_gap) == pytest.approx(0.08)
    assert found["minimax"].worst_gap <= 0.5
    assert middle(found["minimax"].average_gap) > 0.08
    weights, policies = found["minimax"].weights, found["minimax"].policy
    assert weights is not None and isinstance(policies, tuple)
    assert weights.size == len(policies)


def test_more_memory_and_more_knowledge_never_hurt() -> None:
    """Best memoryless, windows and oracle in order; all between worst and informed."""
    rng = np.random.default_rng(21)
    for _ in range(25):
        latent, horizon = random_latent(rng, denominator=8)
        form = loss_form(latent, horizon=horizon)
        found = {b.name: b for b in baselines(form)}
        oracle = solve_exact(form, ExactOracle()).upper
        order = ["window-2", "window-1", "memoryless", "single-simulator"]
        gaps = [oracle, *(middle(found[name].average_gap) for name in order)]
        for less, more in pairwise(gaps):
            assert less <= more + 1e-10
        rewards = latent.simulators.rewards
        for name, each in found.items():
            if name == "informed":
                assert exact(each.gaps).tolist() == [0.0] * form.n_models
                continue
            lost, values = exact(each.gaps), exact(each.values)
            assert (lost >= 0.0).all()
            assert middle(each.average_gap) >= oracle - 1e-10, name
            assert values == pytest.approx(form.optimal - lost)
            assert (values >= horizon * rewards.min() - 1e-10).all()
            low, high = ends(each.value)
            assert low <= float(latent.prior @ values) <= high
            if each.bound is not None:
                assert each.bound >= high - 1e-10, name


def test_policies_have_the_gaps_they_are_reported_with() -> None:
    rng = np.random.default_rng(22)
    for _ in range(15):
        latent, horizon = random_latent(rng, denominator=8, most_histories=400)
        form = loss_form(latent, horizon=horizon)
        for each in baselines(form):
            if each.policy is None or each.name == "informed":
                continue
            policies = each.policy if isinstance(each.policy, tuple) else (each.policy,)
            weights = np.ones(1) if each.weights is None else each.weights
            total = np.zeros(form.n_models)
            for weight, policy in zip(weights, policies, strict=True):
                gaps = gaps_by_histories(form, policy, limit=100_000)
                if gaps is None:  # a first state the policy deems impossible
                    break
                total += weight * gaps
            else:
                reached = latent.prior > 0.0  # elsewhere: what is impossible counts
                assert exact(each.gaps)[reached] == pytest.approx(
                    total[reached], abs=1e-10
                ), each.name


def test_intervals_hold_the_exact_numbers() -> None:
    """Tenths and twelfths round; the best tables are known in Fractions."""
    rng = np.random.default_rng(23)
    checked = 0
    while checked < 20:
        latent, horizon = random_latent(rng, denominator=10 + 2 * (checked % 2))
        simulators = latent.simulators
        if simulators.n_actions ** (simulators.n_states * horizon) > 300:
            continue
        checked += 1
        form = loss_form(latent, horizon=horizon)
        found = {b.name: b for b in baselines(form)}
        truth = rational(latent)
        best = best_memoryless_value(truth, horizon)
        low, high = ends(found["memoryless"].value)
        assert low <= best <= high
        bound = found["memoryless"].bound
        assert bound is not None and best <= bound
        informed = sum(
            p * v for p, v in zip(truth.prior, truth.optimal(horizon), strict=True)
        )
        low, high = ends(found["informed"].value)
        assert low <= informed <= high
        low, high = ends(found["memoryless"].average_gap)
        assert low <= informed - best <= high
        assert high - low < 1e-10


def test_the_informed_agent_has_a_plan_per_model() -> None:
    form, found = of(riverswim(4, (0.1, 0.35, 0.6), left_reward=0.2), horizon=12)
    policies = found["informed"].policy
    assert isinstance(policies, tuple)
    for m, policy in enumerate(policies):
        assert isinstance(policy, MarkovPolicy)
        values = policy_values(form.latent.simulators[m], policy.table, 12)
        assert float(values.start[0]) == pytest.approx(float(form.optimal[m]))
    assert middle(found["informed"].value) == pytest.approx(form.informed)


def test_the_cross_table_is_that_of_every_plan_in_every_model() -> None:
    form, found = of(riverswim(4, (0.1, 0.35, 0.6), left_reward=0.2), horizon=12)
    table, policies = found["single-simulator"].cross_gaps, found["informed"].policy
    assert table is not None and isinstance(policies, tuple)
    for j, policy in enumerate(policies):
        assert isinstance(policy, MarkovPolicy)
        values = policy_values(form.latent.simulators, policy.table, 12)
        assert table[j] == pytest.approx(form.optimal - values.start, abs=1e-11)
    assert np.diag(table) == pytest.approx(np.zeros(3), abs=1e-11)
    best = (table @ form.latent.prior).min()
    assert middle(found["single-simulator"].average_gap) == pytest.approx(best)


def test_with_a_discount_tables_are_stationary_and_say_so() -> None:
    form, found = of(best_arm(2, 0.1), discount=0.9)
    memoryless = found["memoryless"]
    assert "stationary" in memoryless.note
    assert isinstance(memoryless.policy, MarkovPolicy)
    assert memoryless.policy.horizon is None
    assert isinstance(found["window-1"].policy, WindowPolicy)
    assert found["window-1"].policy.horizon is None
    # one arm for ever: half the time 0.1 less for every pull but the first reward
    assert middle(memoryless.average_gap) == pytest.approx(0.45)
    assert middle(found["window-1"].average_gap) < 0.4
    assert found["minimax"].policy is None
    assert "discount" in found["minimax"].note
    assert form.horizon is None


def test_sampled_baselines_agree_with_going_through_all_histories() -> None:
    """Exact gaps lie in intervals made to fail one time in a million; wrong ones not.

    The control is the gap of the other policy: it must lie outside.
    """
    form = loss_form(LatentMDP.uniform(best_arm(3, 0.3)), horizon=6)
    sampling = sampling_policy(form)
    greedy = next(b for b in baselines(form, effort=1.0) if b.name[:6] == "greedy")
    assert isinstance(greedy.policy, BeliefPolicy)
    truth = gaps_by_histories(form, sampling, limit=100_000)
    other = gaps_by_histories(form, greedy.policy, limit=100_000)
    assert truth is not None and other is not None
    prior = form.latent.prior
    for seed in range(3):
        average, each = estimated_sampling(
            form, episodes=60_000, seed=seed, confidence=1.0 - 1e-6
        )
        assert average.lower <= prior @ truth <= average.upper
        for gap, found in zip(truth, each, strict=True):
            assert found.lower <= gap <= found.upper
        assert not average.lower <= prior @ other <= average.upper
        alone = estimated_gap(
            form, greedy.policy, episodes=60_000, seed=seed, confidence=1.0 - 1e-6
        )
        assert alone.lower <= prior @ other <= alone.upper


def test_sampling_with_a_discount_agrees_with_a_long_horizon() -> None:
    """0.5^30 is nothing: discounted rewards as a horizon with shrinking rewards."""
    form = loss_form(LatentMDP.uniform(best_arm(2, 0.3)), discount=0.5)
    average, _ = estimated_sampling(form, episodes=40_000, seed=1)
    policy = sampling_policy(form)
    total, now = 0.0, {(0, policy.start(0)): np.ones(2)}
    for h in range(12):
        after: dict[tuple[int, Any], FloatArray] = {}
        for (state, memory), reach in now.items():
            chances = policy.act(memory, h, state)
            for a, chance in enumerate(chances):
                paid = chance * reach * form.losses[0, state, a]
                total += 0.5**h * float(form.latent.prior @ paid)
                for t in (0, 1):
                    row = form.pattern.indptr[state * 2 + a]
                    key = t, round_memory(policy, memory, (h, state, a, t))
                    weight = chance * reach * form.likelihood[row + t]
                    after[key] = after.get(key, 0.0) + weight
        now = after
    rest = 0.5**12 * float(form.losses.max()) / 0.5
    assert average.lower - rest <= total <= average.upper + rest
    assert average.upper - average.lower < 0.1 * average.estimate


def round_memory(policy: Any, memory: Any, step: tuple[int, int, int, int]) -> Any:
    """Return the next posterior; equal ones up to rounding are one."""
    from simgap.policies.interface import Step

    after = policy.observe(memory, Step(*step))
    return tuple(round(p, 12) for p in after)


def test_memory_and_randomization_are_worth_what_the_oracle_adds() -> None:
    """Theory row 16: 1.6605 with memory, 1.6555 without, 1.65 from one simulator."""
    form, found = of(best_arm(2, 0.1), horizon=4)
    value = Certified(1.66, 1.661)
    memory = value_of_memory(form, value, found["memoryless"])
    assert ends(memory) == pytest.approx((0.0045, 0.0055))
    both = value_of_randomization(form, value, found["single-simulator"])
    assert ends(both) == pytest.approx((0.01, 0.011))


def test_only_certified_values_of_one_problem_are_compared() -> None:
    form, found = of(best_arm(2, 0.1), horizon=4)
    _, larger = of(garnet_mixture(20, 4, 3, 4), horizon=60)
    value = Certified(1.66, 1.661)
    with pytest.raises(InvalidArgument, match="not certified"):
        value_of_memory(form, value, larger["greedy-posterior"])
    with pytest.raises(InvalidArgument, match="not certified"):
        value_of_randomization(form, NOTHING_KNOWN, found["memoryless"])
    with pytest.raises(InvalidArgument, match="below that of the baseline"):
        value_of_memory(form, Certified(1.0, 1.1), found["memoryless"])
