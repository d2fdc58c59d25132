"""What counts as a parameter: labels, groups, twins and what nobody wrote down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.answers.blame.blame import blame
from simgap.answers.blame.hidden_parts import LEFT_OPEN, equal_models, hidden_parts
from simgap.intervals import Certified
from simgap.mdp import Details, LatentMDP, Parameters
from tests.answers.audit_cases import latent_of
from tests.answers.hidden_cases import (
    costly_class,
    ends,
    holds,
    mixed_class,
    sharp,
    with_prior,
)
from tests.note_codes import codes
from tests.reference import blame as brute
from tests.reference.latent import exact_gap
from tests.reference.shapley import shapley_by_orders


def test_a_parameter_without_effect_gets_exactly_nothing() -> None:
    latent = costly_class(3, {"a": 2, "label": 3, "one": 1}, 4, idle=("label",))
    found = blame(latent, 4)
    first, label, one = found.parameters
    for each in (label, one):
        for number in (each.share, each.part, each.alone, each.information):
            assert number == Certified(0.0, 0.0)
        assert each.ignored == Certified(0.0, 0.0)
    assert (label.values, one.values) == (3, 1)
    assert found.classes_planned == 1  # equal models were merged
    assert sharp(first.share, exact_gap(latent, 4))
    assert "label, one" in found.notes[0].text and codes(found)[0] == "no-effect"
    for point in label.curve:
        assert point.told == found.whole


def test_a_label_that_goes_along_with_a_parameter_is_relevant() -> None:
    """Who knows the label knows the parameter: each has half of the blame."""
    latent = costly_class(3, {"a": 2, "label": 2}, 4, idle=("label",))
    together = with_prior(latent, np.array([1.0, 0.0, 0.0, 1.0]))
    game = brute.hidden_game(together, 4)
    assert game[:3] == [0, 0, 0]
    assert game[3] > 0
    found = blame(together, 4)
    for each in found.parameters:
        assert sharp(each.share, game[3] / 2)
        assert ends(each.alone) == (0.0, 0.0)
    half = with_prior(latent, np.array([3.0, 1.0, 1.0, 3.0]))
    exact = shapley_by_orders(2, brute.hidden_game(half, 4))
    assert exact[1] > 0
    for each, truth in zip(blame(half, 4).parameters, exact, strict=True):
        assert sharp(each.share, truth)


def test_two_labels_that_are_one_another_are_both_irrelevant() -> None:
    latent = costly_class(3, {"a": 2, "x": 2, "y": 2}, 3, idle=("x", "y"))
    prior = np.array([x == y for _ in range(2) for x in range(2) for y in range(2)])
    parts = hidden_parts(with_prior(latent, prior.astype(float)))
    assert parts.relevant == (0,)


def test_parameters_that_do_the_same_share_alike() -> None:
    for seed in range(4):
        latent = costly_class(60 + seed, {"a": 2, "b": 2}, 4, alike=("a", "b"))
        one, two = blame(latent, 4).parameters
        assert ends(one.share) == pytest.approx(ends(two.share), abs=1e-12)
        assert ends(one.share)[1] > 0.001


def test_a_group_counts_as_one_parameter() -> None:
    latent = costly_class(7, {"a": 2, "b": 2, "c": 2}, 3)
    game = brute.hidden_game(latent, 3)
    joined = [game[(s & 1) * 5 | (s >> 1 & 1) * 2] for s in range(4)]
    exact = shapley_by_orders(2, joined)
    found = blame(latent, 3, groups=(("a", "c"),))
    assert [each.name for each in found.parameters] == ["a+c", "b"]
    assert [each.values for each in found.parameters] == [4, 2]
    for each, truth in zip(found.parameters, exact, strict=True):
        assert sharp(each.share, truth)
    assert found.parameters[0].curve[1].value == "a=0, c=1"


def test_models_without_parameters_are_one_hidden_part() -> None:
    worlds = costly_class(8, {"a": 3}, 3).simulators
    plain = replace(worlds, parameters=None)
    found = blame(LatentMDP.uniform(plain), 3)
    (only,) = found.parameters
    assert only.name == "model"
    assert only.values == 3
    assert sharp(only.share, exact_gap(LatentMDP.uniform(plain), 3))
    assert [point.value for point in only.curve] == list(plain.model_names)
    assert holds(only.part, 1.0)
    assert found.ignored_whole == pytest.approx(sum(ends(only.ignored)) / 2, abs=1e-12)


def test_what_parameters_leave_open_is_a_part_of_its_own() -> None:
    worlds = costly_class(9, {"a": 2, "b": 2}, 3).simulators
    forgotten = replace(
        worlds, parameters=Parameters(("a",), worlds.theta.values[:, :1])
    )
    known = blame(LatentMDP.uniform(worlds), 3).parameters
    found = blame(LatentMDP.uniform(forgotten), 3).parameters
    assert [each.name for each in found] == ["a", LEFT_OPEN]
    for one, two in zip(found, known, strict=True):
        assert ends(one.share) == pytest.approx(ends(two.share), abs=1e-12)


def test_equal_models_cost_nothing() -> None:
    rng = np.random.default_rng(10)
    latent = mixed_class(rng, {"a": 2, "b": 2}, idle=("a", "b"))
    found = blame(latent, 5)
    assert found.whole == Certified(0.0, 0.0)
    assert found.classes_planned == 0
    assert found.ignored_whole == 0.0
    assert not np.any(found.pair_prices.upper)
    for each in found.parameters:
        assert each.share == Certified(0.0, 0.0)
        assert each.part is None


def test_random_draws_of_parameters_are_warned_about() -> None:
    """Where every model has values of its own, all parameters get the same."""
    latent = costly_class(19, {"a": 3}, 3)
    worlds = latent.simulators
    theta = Parameters(("x", "y"), np.array([[0.1, 3.0], [0.5, 2.0], [0.7, 1.0]]))
    found = blame(LatentMDP.uniform(replace(worlds, parameters=theta)), 3)
    half = exact_gap(latent, 3) / 2
    assert all(sharp(each.share, half) for each in found.parameters)
    assert found.leader is None
    assert "tells-everything" in codes(found)


def test_many_drawn_models_are_quick_to_share() -> None:
    """Twelve parameters: 4096 sets of them, but only one class to plan."""
    latent = costly_class(20, {"a": 3}, 3)
    theta = Parameters(tuple("abcdefghijkl"), np.random.default_rng(0).random((3, 12)))
    worlds = replace(latent.simulators, parameters=theta)
    found = blame(LatentMDP.uniform(worlds), 3)
    assert found.classes_planned == 1
    assert found.method == "exact"
    each = exact_gap(latent, 3) / 12
    assert all(sharp(one.share, each) for one in found.parameters)


def test_models_are_equal_if_all_their_numbers_are() -> None:
    """Also the smallest ones; the sign of a zero is no number."""
    kernel = np.full((2, 1, 2), 0.5)
    other = np.array([[[0.5, 0.5]], [[0.25, 0.75]]])
    pay, minus, tiny = (np.array([[1.0], [last]]) for last in (0.0, -0.0, 1e-20))
    rewards = [pay, minus, tiny, pay, pay]
    start = np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]])
    latent = latent_of(
        [kernel, kernel, kernel, other, kernel],
        np.stack(rewards),
        details=Details(start=start),
    )
    assert equal_models(latent.simulators).tolist() == [0, 0, 2, 3, 4]
    shared = latent_of([kernel, other, kernel], pay)
    assert equal_models(shared.simulators).tolist() == [0, 1, 0]
