"""Classes of hundreds of models: valid brackets from a part of the class."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.entry import (
    planned_in_part,
)
from simgap.oracle.exact import solve_exact
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.part_of_class import neighbourhoods, part_of_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import AutoOracle, ExactOracle
from tests.reference.latent import exact_gap, random_latent

MANY, STEPS = 120, 4


def coins(
    prior: FloatArray | None = None,
    members: int = MANY,
    chances: FloatArray | None = None,
) -> LatentMDP:
    """Action 0 keeps state 1, which pays, by a hidden chance; action 1 pays a bit."""
    kernel = np.zeros((members, 2, 2, 2))
    chance = np.linspace(0.05, 0.95, members) if chances is None else chances
    kernel[:, 0, 0, 1], kernel[:, 0, 0, 0] = chance, 1.0 - chance
    kernel[:, 0, 1, 0] = 1.0
    kernel[:, 1, :, 0] = 1.0
    rewards = np.array([[0.0, 0.3], [1.0, 1.0]])
    worlds = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    return LatentMDP.uniform(worlds) if prior is None else LatentMDP(worlds, prior)


def uneven(seed: int, members: int = MANY, without: int = 3) -> FloatArray:
    prior = np.random.default_rng(seed).dirichlet(np.full(members, 0.7))
    prior[:: members // without] = 0.0
    weights: FloatArray = prior / prior.sum()
    return weights


def exact(form: LossForm) -> tuple[float, float]:
    found = solve_exact(form, ExactOracle())
    assert found.outcome is Outcome.EXACT
    return 0.5 * (found.lower + found.upper), 0.5 * (found.upper - found.lower)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [2, 7, 30])
def test_a_part_brackets_the_gap_of_the_whole_class(seed: int, count: int) -> None:
    prior = None if seed == 0 else uneven(seed)
    form = loss_form(coins(prior), horizon=STEPS)
    gap, wrong = exact(form)
    assert gap > 0.01
    found = planned_in_part(form, AutoOracle(time_limit=20.0), count)
    assert found.lower <= gap + wrong
    assert gap - wrong <= found.upper
    assert found.gaps == pytest.approx(graph_gaps(form, found.policy), nan_ok=True)
    assert found.lower > 0.7 * gap  # groups have models from all over the class
    likely = form.latent.prior > 0.0
    average = float(form.latent.prior[likely] @ found.gaps[likely])
    assert found.upper == pytest.approx(average, abs=1e-9)
    if count == 30:
        assert found.upper < 1.05 * gap


def test_weights_of_neighbourhoods_sum_to_one() -> None:
    """Whatever those of the models sum to; models without any have none."""
    part = neighbourhoods(np.array([1.0, 0.0, 1.0, 1.0, 5.0]), 2)
    assert part.chosen.tolist() == [0, 4]
    assert part.weights.tolist() == [0.25, 0.75]
    assert part.nearest.tolist() == [0, 0, 0, 1, 1]


def test_a_model_that_stands_for_others_counts_for_its_own_weight_alone() -> None:
    """The first coin is bad and stands for a good one, which has all the weight."""
    prior, chances = np.array([0.01, 0.49, 0.25, 0.25]), np.array([0.05, 0.9, 0.9, 0.9])
    form = loss_form(coins(prior, 4, chances), horizon=STEPS)
    gap, wrong = exact(form)
    found = planned_in_part(form, AutoOracle(time_limit=20.0), 2)
    part = neighbourhoods(prior, 2)
    inner = part_of_form(form, part.chosen, part.weights)
    assert 0.5 * exact(inner)[0] > 2.0 * gap  # its larger share would be too much
    assert found.upper > 2.0 * gap
    assert found.lower <= gap + wrong


def test_brackets_of_parts_hold_the_exact_gap_without_any_tolerance() -> None:
    rng = np.random.default_rng(11)
    done = 0
    while done < 40:
        latent, horizon = random_latent(rng, denominator=10, most_histories=200)
        if (latent.prior > 0.0).sum() < 3:
            continue
        form, gap = loss_form(latent, horizon=horizon), exact_gap(latent, horizon)
        found = planned_in_part(form, AutoOracle(time_limit=20.0), 2)
        assert Fraction(found.lower) <= gap <= Fraction(found.upper)
        done += 1


def test_a_group_of_models_counts_by_its_weight() -> None:
    """Three groups, each like the whole class: their sum is three times its gap."""
    bad = np.arange(48) % 2 == 0
    prior = np.where(bad, 0.05, 0.95) / 24.0
    form = loss_form(coins(prior, 48, np.where(bad, 0.05, 0.9)), horizon=STEPS)
    gap, wrong = exact(form)
    found = planned_in_part(form, AutoOracle(time_limit=20.0), 2)
    assert found.upper > 1.5 * gap  # nothing else cuts the lower end
    assert 0.99 * gap < found.lower <= gap + wrong


def test_models_that_surprise_the_part_have_exact_gaps_too() -> None:
    """Every third model can go where the others cannot, and start there."""
    members = 90
    kernel = np.zeros((members, 3, 2, 3))
    chance = np.linspace(0.1, 0.9, members)
    odd = np.arange(members) % 3 == 1
    kernel[:, 0, 0, 1] = np.where(odd, 0.0, chance)
    kernel[:, 0, 0, 2] = np.where(odd, chance, 0.0)
    kernel[:, 0, 0, 0] = 1.0 - chance
    kernel[:, 0, 1, 0] = 1.0
    kernel[:, 1:, :, 0] = 1.0
    start = np.zeros((members, 3))
    start[~odd, 0], start[odd, 2] = 1.0, 1.0
    rewards = np.array([[0.0, 0.3], [1.0, 0.0], [0.0, 1.0]])
    worlds = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    worlds = replace(worlds, start=start)
    form = loss_form(LatentMDP.uniform(worlds), horizon=STEPS)
    gap, wrong = exact(form)
    chosen = neighbourhoods(form.latent.prior, 2).chosen
    assert not odd[chosen].any()
    found = planned_in_part(form, AutoOracle(), 2)
    assert np.isfinite(found.gaps).all()
    assert found.lower <= gap + wrong and gap - wrong <= found.upper


def test_a_part_of_a_form_is_the_form_of_the_part() -> None:
    latent = coins(uneven(1))
    form = loss_form(latent, horizon=STEPS)
    kept, weights = np.array([3, 17, 90]), np.array([0.2, 0.5, 0.3])
    part = part_of_form(form, kept, weights)
    alone = loss_form(part.latent, horizon=STEPS)
    for name in ("likelihood", "losses", "optimal", "root_states", "root_weights"):
        assert np.array_equal(getattr(part, name), getattr(alone, name))
    assert part.rounding >= alone.rounding
    assert replace(part, rounding=alone.rounding).informed == alone.informed
