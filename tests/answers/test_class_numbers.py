"""Gain, value, diameter, separation and smoothness of a class, in closed form.

In every class here both states have the same laws: whatever the state, action 0 leads
to state 1 with chance p, action 1 with chance q. State 1 pays more than state 0.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers import complexity, diameter, solve
from simgap.arrays import FloatArray
from simgap.errors import NotCommunicating
from simgap.mdp import Details, LatentMDP, Parameters
from tests.answers.audit_cases import coins, latent_of, with_an_island
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


def test_a_bias_is_noted_where_it_is_not_unique_or_coarse() -> None:
    """Coarse: the equations are off by more than a millionth of the rewards' range."""
    rewards = np.array([[-1.0, 3.0]])
    plan = Stand(
        simulators=Stand(rewards=rewards),
        unique_bias=[True, False, True, False],
        gain_lower=np.arange(4.0),
        gain_upper=np.arange(4.0) + 0.5,
        bias_span=np.full(4, 2.0),
        residual=np.array([4e-6, 4e-6, 5e-6, 5e-6]),
    )
    many, coarse = solving.MANY_BIASES, solving.COARSE_BIAS
    found = solving._average(plan)
    assert [each[3] for each in found] == [None, many, coarse, f"{many}; {coarse}"]
    assert [(each[0].lower, each[0].upper) for each in found] == [
        (at, at + 0.5) for at in range(4)
    ]
    plan.simulators.rewards = np.zeros((1, 2))  # of equal rewards all is coarse
    plan.residual = np.array([0.0, 1e-300, 1e-300, 0.0])
    assert [each[3] for each in solving._average(plan)] == [
        None,
        f"{many}; {coarse}",
        coarse,
        many,
    ]


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


@pytest.mark.parametrize("own", ["rewards", "start", "both"])
def test_rewards_and_starts_of_models_add_to_what_kernels_do(own: str) -> None:
    """H times the greatest difference of rewards, H times half that of starts."""
    rng = np.random.default_rng(3)
    rewards: FloatArray = rng.uniform(size=(3, 2, 2))
    laws: FloatArray = rng.dirichlet([1.0, 1.0], 3)
    latent = latent_of(
        [np.full((2, 2, 2), 0.5)] * 3,
        rewards[0] if own == "start" else rewards,
        details=Details() if own == "rewards" else Details(start=laws),
    )
    found = smooth._beside_kernels(latent.simulators, 7, 0.75)
    for i in range(3):
        for j in range(3):
            expected = 0.0
            if own != "start":
                expected += 7 * np.abs(rewards[i] - rewards[j]).max()
            if own != "rewards":
                expected += 7 * 0.75 * np.abs(laws[i] - laws[j]).sum() / 2
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


def test_values_that_take_too_long_are_bounded_by_the_diameter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """(H - 1) D / 2 times the range of rewards: 4 * 2 / 2 * 5."""
    latent = tosses((0.2, 0.5), (0.9, 0.5))
    entries = 5.0 * latent.simulators.transitions.nonzeros * 2
    monkeypatch.setattr(smooth, "MOST_BACKUPS", entries)
    assert codes(complexity(latent, 5)) == []
    monkeypatch.setattr(smooth, "MOST_BACKUPS", entries - 1.0)
    found = complexity(latent, 5)
    assert codes(found) == ["values-not-computed"]
    assert found.smoothness is not None
    greatest = found.smoothness.metrics[0]
    assert (greatest.optimal.lower, greatest.optimal_pair) == (0.0, None)
    assert greatest.optimal.upper == pytest.approx(20.0)


def test_the_steepest_rise_over_no_distance_is_infinite() -> None:
    apart = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    rises = np.array([[0.0, 6.0, 0.0], [6.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    assert smooth._steepest(rises, apart) == (3.0, (0, 1))
    rises[0, 2] = rises[2, 0] = 1e-300
    assert smooth._steepest(rises, apart) == (np.inf, (0, 2))
    assert smooth._steepest(0.0 * rises, apart) == (0.0, None)


def test_models_that_are_the_same_rise_by_nothing() -> None:
    latent = coins(0.2, 0.2, 0.9)
    same = np.array([[True, True, False], [True, True, False], [False, False, True]])
    low, high = smooth._optimal_values(latent.simulators, 6, same=same)
    assert (low[same] == 0.0).all() and (high[same] == 0.0).all()
    rise = 5 * (0.9 - 0.5)
    assert low[0, 2] < rise < high[0, 2] < rise + 1e-12
    assert (low >= 0.0).all()


def test_a_measure_with_equal_ends_is_exact() -> None:
    assert measures._certainty(Stand(lower=2, upper=2)) == "exact"
    assert measures._certainty(Stand(lower=2, upper=3)) == "certified"
