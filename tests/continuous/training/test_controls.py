"""Controls: what memory and information are worth where it is known beforehand."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import norm

from simgap.arrays import FloatArray
from simgap.continuous import open_jax
from simgap.continuous.training.update import Learnt
from tests.continuous.training.linear_quadratic import (
    HIDDEN,
    HORIZON,
    KEEP,
    LINEAR_QUADRATIC,
    PRICE,
    SILENT,
    VISIBLE,
    gains,
    optimum,
)
from tests.continuous.training.trial import Trial, trial

pytest.importorskip("jax")

EPISODES = 4096
SURE = float(norm.isf(0.5e-6))  # standard errors of a mean of so many
QUICK, LONG = 80, 320  # updates
SETTINGS = {"rows": 256, "minibatches": 4, "units": 32, "discount": 0.9, "rate": 2e-3}
INFORMED, MEMORY, WITHOUT = "informed", "memory", "without"  # kinds of policies
BEST, REMEMBERING, BLIND = (optimum(KEEP, each) for each in (0, SILENT, HORIZON))


class Interval(NamedTuple):
    """What a mean certainly lies between, up to a chance of 1e-6."""

    lower: float
    upper: float


def interval(values: FloatArray) -> Interval:
    error = SURE * values.std(ddof=1) / np.sqrt(values.size)
    return Interval(values.mean() - error, values.mean() + error)


@lru_cache
def policies(kind: str) -> Trial:
    """Return the policies of a kind, whose programs are compiled once."""
    memory = "none" if kind == WITHOUT else "gru"
    told = kind == INFORMED
    return trial(open_jax(LINEAR_QUADRATIC), HIDDEN, memory, informed=told, **SETTINGS)


@lru_cache
def learnt(kind: str, seed: int, updates: int) -> Learnt:
    return policies(kind).trained(seed, updates)


def planned(blind: int, keep: float = KEEP) -> FloatArray:
    """Return what the best policy gets in the episodes that trained ones are run in."""
    given = policies(WITHOUT)
    draws = given.drawn(2**32, 0, rows=EPISODES)
    silence = np.zeros((HORIZON, EPISODES, 1), np.float32)
    push = given.in_waves(given.learner.start(0), draws, silence).observation[..., 0]
    x, returned = np.zeros(EPISODES), np.zeros(EPISODES)
    for gain, pushed in zip(gains(keep, blind), push[:HORIZON], strict=True):
        middle = keep * x + pushed
        x = (1.0 - gain) * middle
        returned -= x**2 + PRICE * (gain * middle) ** 2
    return returned


def test_plans_get_what_the_closed_forms_say() -> None:
    for blind, other in ((0, 1), (SILENT, SILENT - 1), (HORIZON, HORIZON - 2)):
        got = interval(planned(blind))
        assert got.lower < optimum(KEEP, blind) < got.upper
        assert not got.lower < optimum(KEEP, other) < got.upper  # the control
    assert BLIND < REMEMBERING < BEST
    still = policies(WITHOUT).returns(silent(), EPISODES)  # u = 0
    np.testing.assert_allclose(still, planned(HORIZON), rtol=1e-4)


def silent() -> Learnt:
    """Return a policy that does nothing."""
    new = policies(WITHOUT).learner.start(0)
    head = new.weights.actor.head
    actor = new.weights.actor._replace(head=head._replace(weight=0.0 * head.weight))
    return new._replace(weights=new.weights._replace(actor=actor))


def check_order(seed: int, updates: int, share: float) -> None:
    """Train the three kinds of policies with a seed.

    The informed one may lose `share` of the optimum; others lie where they must.
    """
    informed, memory, without = (
        policies(kind).returns(learnt(kind, seed, updates), EPISODES)
        for kind in (INFORMED, MEMORY, WITHOUT)
    )
    best, blind = planned(0), planned(HORIZON)
    lost = interval(best - informed)
    assert 0.0 < lost.upper < share * abs(BEST)  # nothing beats the optimum
    assert interval(without - blind).lower < 0.0  # no better than without any action
    assert interval(memory - without).lower > 0.5 * (REMEMBERING - BLIND)
    assert interval(planned(SILENT) - memory).upper > 0.0
    assert interval(informed - memory).lower > 0.5 * (BEST - REMEMBERING)


def test_memory_is_worth_something_between_nothing_and_the_truth() -> None:
    check_order(0, QUICK, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_memory_is_worth_as_much_with_every_seed(seed: int) -> None:
    """Informed within 3 % of Riccati, without memory no better than doing nothing."""
    check_order(seed, LONG, 0.03)


def test_an_informed_policy_that_is_told_lies_loses_its_advantage() -> None:
    """It gets less than one that does nothing: half of what it is told is wrong."""
    given = policies(INFORMED)
    policy = learnt(INFORMED, 0, QUICK)
    truth, lies = (
        given.returns(policy, EPISODES, shuffled=each) for each in (False, True)
    )
    assert interval(truth - planned(HORIZON)).lower > 0.0
    assert interval(lies - planned(HORIZON)).upper < 0.0


def worth_of_memory(spec: str, seed: int, updates: int) -> tuple[float, float]:
    """Return it, and how far the better policy is from the best plan with keep = 0."""
    with_memory, without = (
        given.returns(given.trained(seed, updates), EPISODES).mean()
        for given in (policies(kind).drawing(spec) for kind in (MEMORY, WITHOUT))
    )
    lost = planned(0, keep=0.0).mean() - max(with_memory, without)
    return float(with_memory - without), float(lost)


def test_memory_is_worth_nothing_where_the_sign_is_seen() -> None:
    """And where nothing else is worth remembering: all have the informed optimum."""
    slack = 0.1 * abs(optimum(0.0, 0))  # neither is trained to the end
    worth, lost = worth_of_memory(VISIBLE, 0, QUICK // 2)
    assert abs(worth) < slack
    assert 0.0 < lost < slack
    assert optimum(0.0, SILENT) - optimum(0.0, HORIZON) > 10.0 * slack  # if hidden
