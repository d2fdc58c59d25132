"""The facts that bounds are made of, in closed form, and the record of the bounds.

In every class here both states have the same laws: whatever the state, action 0 leads
to state 1 with chance p, action 1 with chance q. State 1 pays 5 more than state 0.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from simgap.answers import bounds, measured_class
from simgap.bounds import (
    Bhattacharyya,
    Chernoff,
    PaperSamples,
    ProvedThreshold,
    applicable,
    fits_from,
    vacuity_horizon,
)
from simgap.mdp import LatentMDP
from tests.answers.audit_cases import latent_of, signs, with_an_island
from tests.answers.test_class_numbers import WIDTH, tosses
from tests.note_codes import codes


def weighted(latent: LatentMDP, *prior: float) -> LatentMDP:
    return LatentMDP(latent.simulators, np.array(prior))


def test_facts_of_coins_are_for_rewards_between_0_and_1() -> None:
    """The bias rises by 1 from state 0 to 1, so that a step is a toss of a coin."""
    latent = weighted(tosses((0.2, 0.5), (0.9, 0.25), (1.0, 0.5)), 0.25, 0.5, 0.25)
    found = measured_class(latent, 100)
    facts = found.facts
    assert (facts.states, facts.actions, facts.members) == (2, 2, 3)
    assert (facts.least_weight, facts.reward_width) == (0.25, WIDTH)
    assert facts.shared_rewards
    assert facts.spans is not None and facts.gains is not None
    np.testing.assert_allclose(facts.spans, 1.0)
    np.testing.assert_allclose(facts.gains, [0.5, 0.9, 1.0], atol=1e-6)
    assert (facts.gains <= np.array([0.5, 0.9, 1.0]) + 1e-12).all()
    assert facts.deviations is not None and facts.steps is not None
    np.testing.assert_allclose(facts.deviations, [0.5, sqrt(0.9 * 0.1), 0.0], atol=1e-9)
    # the last model never sees state 0, but another may be real
    np.testing.assert_allclose(facts.steps, [0.5, 0.9, 1.0], atol=1e-9)
    assert facts.pairs == 4  # the first plays action 1, the others action 0
    assert 0.0 <= facts.residual < 1e-6
    assert facts.diameter_lower <= 2.0 <= facts.diameter + 1e-9
    assert facts.diameter == pytest.approx(2.0)  # of the fair coin
    assert found.diameter.ends == (facts.diameter_lower, facts.diameter)
    assert facts.separation == pytest.approx(0.5)  # of 0.25 and 0.5, action 1
    # the same two models, where they overlap least: 0.9 and 1, action 0
    assert facts.exponent == pytest.approx(-0.5 * np.log(0.9))
    assert found.eluder is not None and found.covering is not None
    assert (facts.eluder, facts.covering) == (found.eluder.upper, found.covering.upper)
    assert found.covering.ends == (3.0, 3.0)
    assert codes(found) == []


def test_models_without_weight_and_rewards_of_models_are_noted() -> None:
    latent = tosses((0.2, 0.5), (0.9, 0.25), (1.0, 0.5))
    found = measured_class(weighted(latent, 0.5, 0.0, 0.5), 10)
    assert codes(found) == ["without-prior-weight"]
    assert found.facts.members == 2
    assert found.facts.spans is not None and found.facts.spans.size == 2
    other = measured_class(signs(), 10)
    assert codes(other) == ["rewards-of-models"]
    assert not other.facts.shared_rewards
    assert other.facts.separation == 0.0


def test_equal_rewards_have_no_spans_and_nothing_is_off() -> None:
    kernel = np.full((2, 2, 2), 0.5)
    facts = measured_class(latent_of([kernel], np.full((2, 2), 7.0)), 10).facts
    assert facts.reward_width == 0.0 == facts.residual
    for each in (facts.spans, facts.gains, facts.deviations, facts.steps):
        assert each is not None
        assert each.tolist() == [0.0]


def test_a_class_without_ways_back_has_no_biases() -> None:
    found = measured_class(with_an_island(), 10)
    facts = found.facts
    assert (facts.spans, facts.gains, facts.deviations) == (None, None, None)
    assert (facts.steps, facts.pairs, facts.residual) == (None, None, 0.0)
    assert (found.eluder, found.covering, facts.eluder) == (None, None, None)
    assert facts.diameter == np.inf


def test_the_record_of_bounds_has_the_numbers_of_the_class() -> None:
    latent = weighted(tosses((0.2, 0.5), (0.9, 0.25)), 0.25, 0.75)
    horizon = 10**9
    found = bounds(latent, horizon)
    assert found.most_lost == horizon * WIDTH
    numbers = found.numbers
    assert (numbers.members, numbers.states, numbers.actions) == (2, 2, 2)
    assert numbers.least_weight == 0.25
    assert numbers.greatest_span == pytest.approx(WIDTH)
    assert numbers.separation == pytest.approx(1.4)
    assert numbers.diameter.upper == pytest.approx(2.0)
    assert numbers.eluder is not None and numbers.covering is not None
    assert numbers.covering.ends == (2.0, 2.0)
    known = applicable(measured_class(latent, horizon).facts, horizon)
    assert len(known) == len(found.bounds)
    for one, each in zip(known, found.bounds, strict=True):
        assert (each.name, each.value, each.unmet) == (one.claim, one.value, one.unmet)
        assert each.non_vacuous_from == one.non_vacuous_from
        assert (each.kind, each.quantity) == (one.kind.value, one.quantity.value)
        assert each.constants == one.constants
        assert not each.unmet or each.vacuous
    kinds = {(bool(each.unmet), each.vacuous) for each in found.bounds}
    assert (False, False) in kinds  # some theorem says something of so many steps
    soon = bounds(latent, 3)
    assert all(each.vacuous for each in soon.bounds if each.kind == "upper")


def test_algorithms_find_out_something_from_some_horizon_on() -> None:
    """Samples of a comparison fit into the horizon; and so does an elimination."""
    latent = tosses((0.2, 0.5), (0.9, 0.5), (0.6, 0.5))
    found = bounds(latent, 50).vacuity
    delta = 0.6  # of 0.6 and 0.9, in L1
    exponent = -np.log(sqrt(0.6 * 0.9) + sqrt(0.4 * 0.1))
    rules: dict[str, Any] = {
        "Chernoff": Chernoff(delta),
        "Bhattacharyya": Bhattacharyya(exponent),
        "paper's n0": PaperSamples(delta, 2),
    }
    told = {(e.rule, e.event): e.horizon for e in found if e.algorithm == "Algorithm 1"}
    assert len(told) == 6
    for name, rule in rules.items():
        for event, rounds in (("a comparison", 1), ("all comparisons", 2)):
            first = fits_from(rule, members=3, comparisons=rounds)
            assert told[name, event] == pytest.approx(first, rel=1e-6)
    last = {e.rule: e.horizon for e in found if e.algorithm == "Algorithm 3"}
    ways = (ProvedThreshold.SHARP, ProvedThreshold.PAPER)
    assert len(last) == len(ways)
    for horizon, threshold in zip(last.values(), ways, strict=True):
        first = vacuity_horizon(
            spans=[1.0, 1.0, 1.0],
            drifts=[0.5, 0.9, 0.6],
            steps=[0.5, 0.9, 0.6],
            threshold=threshold,
            diameter=2.0,
        )
        assert horizon == pytest.approx(first, rel=1e-6)
    assert bounds(tosses((0.2, 0.5)), 50).vacuity == ()
    alike = bounds(tosses((0.2, 0.5), (0.2, 0.5)), 50).vacuity
    assert {each.algorithm for each in alike} == {"Algorithm 3"}
    lost = bounds(with_an_island(), 50)
    assert {each.algorithm for each in lost.vacuity} == {"Algorithm 1"}
    assert lost.numbers.greatest_span is None
