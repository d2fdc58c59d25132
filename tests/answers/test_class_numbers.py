"""Gain, value, diameter, separation and smoothness of a class, in closed form.

In every class here both states have the same laws: whatever the state, action 0 leads
to state 1 with chance p, action 1 with chance q. State 1 pays more than state 0.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from simgap.answers import complexity, diameter, solve
from simgap.errors import NotCommunicating
from simgap.mdp import Details, LatentMDP, Parameters
from tests.answers.audit_cases import latent_of, with_an_island
from tests.note_codes import codes

solving: Any = import_module("simgap.answers.solve")
smooth: Any = import_module("simgap.answers.complexity.smoothness")
measures: Any = import_module("simgap.answers.complexity.complexity")

LOW, WIDTH = -3.0, 5.0


def tosses(*chances: tuple[float, float], **details: Any) -> LatentMDP:
    """Return models that toss one of two coins for state 1, which pays 2, not -3."""
    kernels = []
    for pair in chances:
        P = np.zeros((2, 2, 2))
        P[:, :, 1], P[:, :, 0] = pair, 1.0 - np.array(pair)
        kernels.append(P)
    pay = [[LOW, LOW], [LOW + WIDTH, LOW + WIDTH]]
    return latent_of(kernels, pay, details=Details(**details))


def stuck() -> LatentMDP:
    """Return a coin, and a model that leaves no state."""
    kernels = [np.full((2, 2, 2), 0.5), np.zeros((2, 2, 2))]
    kernels[1][0, :, 0] = kernels[1][1, :, 1] = 1.0
    return latent_of(kernels, [[0.0, 0.0], [1.0, 1.0]])


def test_gain_bias_and_value_of_coins_are_those_of_the_better_coin() -> None:
    latent = tosses((0.2, 0.5), (0.9, 0.25))
    found = solve(latent, 11)
    for best, each in zip((0.5, 0.9), found.models, strict=True):
        gain = LOW + WIDTH * best
        assert each.gain.lower is not None and each.gain.upper is not None
        assert each.gain.lower <= gain + 1e-12 and gain - 1e-12 <= each.gain.upper
        assert each.gain.upper - each.gain.lower < 1e-6
        assert each.bias_span == pytest.approx(WIDTH)
        assert each.residual is not None and each.residual < 1e-6
        value = 11 * LOW + 10 * WIDTH * best  # the first state pays least
        assert each.value == pytest.approx(value)
        assert each.value_bounds is not None
        assert each.value_bounds.lower <= value + 1e-12
        assert value - 1e-12 <= each.value_bounds.upper
        assert each.note is None
    alone = solve(latent)
    assert alone.horizon is None
    for one, other in zip(found.models, alone.models, strict=True):
        assert (other.value, other.value_bounds) == (None, None)
        assert (other.gain, other.bias_span) == (one.gain, one.bias_span)


def test_a_model_that_is_stuck_has_a_value_and_no_gain() -> None:
    first, second = solve(stuck(), 5).models
    assert first.gain.lower == pytest.approx(0.5)
    assert first.value == pytest.approx(2.0) and first.note is None
    assert (second.gain.lower, second.gain.upper) == (None, None)
    assert (second.bias_span, second.residual) == (None, None)
    assert (second.value, second.note) == (0.0, solving.NO_GAIN)
    with pytest.raises(NotCommunicating):
        solve(stuck())


def test_the_slowest_trip_waits_for_the_rarer_side_of_the_better_coin() -> None:
    latent = tosses((0.2, 0.25), (0.9, 0.75), state_names=("tail", "head"))
    found = diameter(latent)
    assert found.diameter.lower <= 4.0 + 1e-9 and found.diameter.upper >= 4.0 - 1e-9
    up, down = found.models
    assert (up.source, up.target) == (0, 1)
    assert (up.source_name, up.target_name) == ("tail", "head")
    assert up.lower <= 4.0 + 1e-9 and up.upper == pytest.approx(4.0)
    assert (down.source, down.target) == (1, 0)
    assert (down.source_name, down.target_name) == ("head", "tail")
    assert down.lower == pytest.approx(4.0) and down.upper == pytest.approx(4.0)
    narrow = diameter(tosses((0.2, 0.5))).models[0]
    assert narrow.upper == pytest.approx(2.0)


def test_a_class_is_as_separate_as_its_nearest_models() -> None:
    chances = np.array([[0.2, 0.5], [0.5, 0.5], [0.9, 0.5]])
    theta = Parameters(("chance",), chances[:, :1])
    latent = tosses(
        *map(tuple, chances.tolist()),
        parameters=theta,
        model_names=("low", "fair", "high"),
        state_names=("tail", "head"),
        action_names=("mine", "yours"),
    )
    found = complexity(latent, 11)
    apart = found.separation
    assert apart.value == pytest.approx(0.6)
    assert (apart.pair, apart.pair_names) == ((0, 1), ("low", "fair"))
    assert (apart.state, apart.action) == (0, 0)
    assert (apart.state_name, apart.action_name) == ("tail", "mine")
    assert apart.farthest == (0, 2) and apart.greatest == pytest.approx(1.4)
    assert apart.duplicates == ()
    assert found.diameter.lower <= 2.0 + 1e-9 and found.diameter.upper >= 2.0 - 1e-9
    assert found.smoothness is not None
    greatest, mean, parameter = found.smoothness.metrics
    # values are 11 low + 10 width (0.5, 0.5, 0.9): only pairs with the third differ
    rise = 10 * WIDTH * 0.4
    any_policy = 11 * 10 / 4 * WIDTH
    for each, unit in ((greatest, 2.0), (mean, 1.0), (parameter, 1.0 / 0.7)):
        assert each.optimal_pair == (1, 2)
        assert each.optimal.lower == pytest.approx(rise / (0.4 * unit))
        assert each.optimal.lower <= each.optimal.upper
        assert each.optimal.upper == pytest.approx(rise / (0.4 * unit))
        assert each.policy_at_most == pytest.approx(any_policy * 2.0 / unit)
        assert each.gap_at_most == each.policy_at_most + each.optimal.upper
    assert found.certainty["smoothness"] == "certified"
    assert codes(found) == []


def test_eluder_dimension_and_cover_are_those_of_two_coins() -> None:
    """One function for each coin: they differ by the chance of the better state."""
    latent = tosses((0.2, 0.5), (0.9, 0.5), model_names=("low", "high"))
    found = complexity(latent, 100)
    assert found.eluder is not None and found.covering is not None
    assert found.eluder.lower == found.eluder.upper == len(found.eluder.sequence)
    assert found.eluder.epsilon == found.covering.epsilon == 0.01
    assert found.eluder.scale >= 0.01
    # values of f are of rewards in [0, 1] here: no two functions are further apart
    assert found.eluder.scale <= 1.0
    first = found.eluder.sequence[0]
    assert first.action == 0  # the other coin is the same in both models
    assert (found.covering.lower, found.covering.upper) == (2, 2)
    assert found.covering.functions == 2
    assert found.covering.cover == ("low", "high")
    assert found.certainty["eluder"] == found.certainty["covering"] == "exact"
    coarse = complexity(latent, 1)  # a ball of the range of rewards holds both
    assert coarse.covering is not None and coarse.covering.upper == 1


def test_one_model_that_moves_alike_twice_is_a_duplicate() -> None:
    found = complexity(tosses((0.2, 0.5), (0.2, 0.5)))
    apart = found.separation
    assert (apart.value, apart.duplicates) == (0.0, ((0, 1),))
    assert (apart.state, apart.state_name, apart.action_name) == (None, None, None)
    assert codes(found) == ["no-horizon"]
    assert (found.eluder, found.covering, found.smoothness) == (None, None, None)
    assert sorted(found.certainty) == ["diameter", "separation"]
    alone = complexity(tosses((0.2, 0.5)))
    assert (alone.separation.value, alone.separation.pair) == (2.0, None)
    assert (alone.separation.farthest, alone.separation.greatest) == (None, None)


def test_what_has_no_bias_or_several_is_noted() -> None:
    found = complexity(with_an_island(), 5)
    assert codes(found) == ["no-bias"]
    assert (found.eluder, found.covering) == (None, None)
    assert found.diameter.upper == np.inf
    assert found.smoothness is not None
    kernel = np.zeros((2, 2, 2))  # action a leads to state a
    kernel[:, 0, 0] = kernel[:, 1, 1] = 1.0
    stay = latent_of([kernel, kernel], [[1.0, 0.0], [0.0, 1.0]])
    assert codes(complexity(stay, 5)) == ["many-biases"]
    equal = complexity(latent_of([kernel], np.zeros((2, 2))), 4)
    assert equal.eluder is not None and equal.eluder.scale == 0.25
