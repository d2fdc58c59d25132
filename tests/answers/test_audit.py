"""Losses behind the verdict: against exact recursions, and what must not change."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from simgap.answers.audit.audit import audit
from simgap.answers.audit.losses import Losses, Settings, losses_in_steps
from simgap.instances import absorbing_doors, best_arm, riverswim
from simgap.intervals import Certified
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    class_from_arrays,
)
from tests.answers.audit_cases import apart_of, coins, latent_of, theory_of
from tests.reference.episodic import policy_values
from tests.reference.latent import RationalLatent, exact_gap, random_latent, rational
from tests.reference.memoryless import best_memoryless_value

QUICK = Settings()


def holds(bounds: Certified | None, exact: Fraction) -> bool:
    assert bounds is not None
    assert bounds.lower is not None and bounds.upper is not None
    slack = Fraction(1, 10**12) * (1 + abs(exact))
    return bool(Fraction(bounds.lower) <= exact + slack) and bool(
        exact - slack <= Fraction(bounds.upper)
    )


def random_gap(exact: RationalLatent, horizon: int) -> Fraction:
    """Return what acting at random loses on average, in exact arithmetic."""
    S, A = exact.n_states, exact.n_actions
    policy = [[[Fraction(1, A)] * A] * S] * horizon
    total = Fraction(0)
    for model, prior, law, best in zip(
        exact.models, exact.prior, exact.start, exact.optimal(horizon), strict=True
    ):
        first = policy_values(model.transitions, model.rewards, policy)[0]
        own = sum((p * v for p, v in zip(law, first, strict=True)), Fraction(0))
        total += prior * (best - own)
    return total


def test_losses_hold_those_of_exact_recursions_and_the_verdict_follows() -> None:
    rng = np.random.default_rng(5)
    met = set()
    for _ in range(40):
        latent, horizon = random_latent(rng, denominator=8)
        part, exact = Fraction(1, 8), rational(latent)
        lost = losses_in_steps(latent, horizon, replace(QUICK, acceptable=0.125))
        gap, stake = exact_gap(latent, horizon), random_gap(exact, horizon)
        assert holds(lost.average_gap, gap)
        assert lost.stakes is not None and holds(lost.stakes.average, stake)
        policies = exact.n_actions ** (exact.n_states * horizon)
        if policies <= 300:
            informed = sum(
                (
                    p * v
                    for p, v in zip(exact.prior, exact.optimal(horizon), strict=True)
                ),
                Fraction(0),
            )
            least = informed - best_memoryless_value(exact, horizon)
            assert holds(lost.memoryless_gap, least)
            assert holds(lost.value_of_memory, least - gap)
            if lost.verdict == "yes":
                assert least <= part * stake + Fraction(1, 10**9)
        if lost.verdict == "no":
            assert gap > part * stake
        elif lost.verdict != "undecided":
            assert gap <= part * stake + Fraction(1, 10**9)
        met.add(lost.verdict)
    assert {"yes", "no"} <= met


def test_the_worst_model_is_the_one_that_loses_the_largest_part() -> None:
    latent = LatentMDP.uniform(best_arm(3, e=0.4))
    lost = losses_in_steps(latent, 5, QUICK)
    assert lost.gaps is not None and lost.worst is not None and lost.stakes is not None
    parts = [
        gap / (stake.lower or 1.0)
        for gap, stake in zip(lost.gaps, lost.stakes.models, strict=True)
    ]
    names = latent.simulators.model_names
    assert lost.worst.name == names[int(np.argmax(parts))]
    assert lost.worst.relative == pytest.approx(max(parts))
    assert lost.worst.gap == lost.gaps[int(np.argmax(parts))]


def test_memory_decides_where_models_show_themselves() -> None:
    """A mirrored coin is found out in a few tosses; without memory half is lost."""
    P, Q = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    P[:, 0, 0] = P[:, 1, 1] = 1.0
    Q[:, 0, 1] = Q[:, 1, 0] = 1.0
    latent = latent_of([P, Q], [[0.0, 0.0], [1.0, 1.0]])
    found = audit(latent, 20)
    assert found.verdict == "with memory" and found.passed
    assert found.memory is not None and found.average_gap is not None
    assert (found.memory.enough, found.memory.needed) == ("certified", "certified")
    assert found.average_gap.upper == pytest.approx(0.5)  # one wrong move in one model


@pytest.mark.parametrize(
    ("memory", "without", "worth"),
    [
        ((0.1, 0.2), (0.5, 0.7), (0.3, 0.6)),
        ((0.1, 0.4), (0.2, 0.3), (0.0, 0.2)),
        ((0.1, 0.4), (0.1, 0.4), (0.0, 0.3)),
        ((0.2, 0.2), (0.2, 0.2), (0.0, 0.0)),
    ],
)
def test_memory_is_worth_what_its_two_brackets_leave_open(
    memory: tuple[float, float],
    without: tuple[float, float],
    worth: tuple[float, float],
) -> None:
    made = Losses(
        average_gap=Certified(*memory), memoryless_gap=Certified(*without)
    ).value_of_memory
    assert made is not None
    assert (made.lower, made.upper) == pytest.approx(worth, abs=1e-15)


def test_doors_do_not_transfer() -> None:
    """Proposition 1: the average loss is that of a guess."""
    found = audit(LatentMDP.uniform(absorbing_doors(3)), 8)
    assert found.verdict == "no" and not found.passed
    assert found.average_gap is not None
    assert found.average_gap.lower == pytest.approx(4.0)
    assert found.finding("communicating").code == "no-way-back"


def test_an_average_that_is_fine_does_not_hide_a_model_that_is_not() -> None:
    latent = coins(0.1, 0.9, prior=(0.02, 0.98))
    found = audit(latent, 2)
    assert found.verdict == "yes"
    assert found.everywhere is False
    assert found.memoryless_worst is not None
    assert found.memoryless_worst.name == "model 0"
    fair = audit(coins(0.8, 0.9), 3)
    assert fair.verdict == "yes" and fair.everywhere is True


def test_the_first_state_may_tell_models_that_move_alike() -> None:
    """One starts at 0 and one at 1; an even chance of either is half as telling."""
    kernel = np.zeros((2, 2, 2))
    kernel[:, 0, 0] = kernel[:, 1, 1] = 1.0
    pay = np.zeros((2, 2, 2))
    pay[0, :, 0] = pay[1, :, 1] = 1.0
    for law, lost in (((0.0, 1.0), 0.0), ((0.5, 0.5), 0.25), ((1.0, 0.0), 0.5)):
        worlds = class_from_arrays(
            np.stack([kernel, kernel]),
            pay,
            order=IndexOrder.STATE_ACTION,
            details=Details(start=np.array([[1.0, 0.0], law])),
        )
        latent = LatentMDP.uniform(worlds)
        found, loss = audit(latent), apart_of(latent).loss_per_step
        assert loss is not None
        assert loss.lower - 1e-9 <= lost <= loss.upper + 1e-9
        assert loss.upper - loss.lower < 1e-6
        assert found.passed is not (lost > 0.0)


@pytest.mark.parametrize(("offset", "factor"), [(-7.0, 1.0), (0.0, 40.0), (3.0, 0.01)])
def test_moving_and_scaling_rewards_leaves_the_verdict(
    offset: float, factor: float
) -> None:
    rng = np.random.default_rng(11)
    for _ in range(8):
        latent, horizon = random_latent(rng, denominator=8)
        before = audit(latent, horizon)
        simulators = latent.simulators
        moved = replace(simulators, rewards=offset + factor * simulators.rewards)
        after = audit(LatentMDP(moved, latent.prior), horizon)
        assert after.verdict == before.verdict
        assert after.headline == before.headline
        assert [(each.code, each.status) for each in after.findings] == [
            (each.code, each.status) for each in before.findings
        ]


def test_an_episode_too_long_to_plan_is_bounded_by_theory() -> None:
    rivers = LatentMDP.uniform(riverswim(3, success=(0.3, 0.7)))
    found = audit(rivers, 2 * 10**6)
    assert found.outcome is None and found.worst is None
    assert found.verdict == "yes"  # one stationary policy is best for both
    assert found.average_gap is not None and found.average_gap.lower == 0.0
    assert found.finding("planning").code == "not-planned"
    flips = coins(0.1, 0.9)
    coin_flips = audit(flips, 2 * 10**6)
    assert coin_flips.verdict == "with memory" and coin_flips.outcome is None
    assert coin_flips.average_gap is not None
    assert coin_flips.average_gap.upper == theory_of(flips, 2 * 10**6).promised
    endless = audit(rivers, 10**9)
    assert endless.verdict == "undecided" and endless.passed
    assert endless.at_stake is None and endless.finding("planning").value is None
