"""Draws of a training: a function of seed and number, hidden in all ways alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chisquare

from simgap.arrays import AnyArray, BoolArray, FloatArray
from simgap.continuous import Parameter, bind, parse_memory, preset
from simgap.continuous.measuring.jobs import episode_seeds as evaluation_seeds
from simgap.continuous.training.draws import Drawn, drawn, episode_seeds
from simgap.continuous.training.features import features_of
from tests.continuous.randomization.worlds import Named

NAMES = ("mass", "gain", "drag", "hidden")  # a parameter may have any name
ROBOT = Named("robot", tuple(Parameter(name, 1.0) for name in (*NAMES, "arm")))
SPEC = "mass=0..1 gain*=0.5..2 drag=log(0.1..10) hidden=0..1"
RARE = 1e-6  # chance that a test of chance fails though all is well


def round_of(number: int, seed: int = 0, **changes: Any) -> Drawn:
    randomization = bind(SPEC, ROBOT)
    settings = preset(parse_memory("none"), 20, **{"rows": 8, **changes})
    return drawn(
        randomization,
        features_of(randomization),
        settings,
        seed,
        number,
        ROBOT.parameters,
    )


def by_number(number: int, found: Drawn, name: str) -> dict[int, AnyArray]:
    """Return something of every episode of a round by the episode's number."""
    which = found.draws.shown if name == "shown" else getattr(found, name)
    size = found.seeds.size
    episodes = range(number * size, (number + 1) * size)
    return dict(zip(episodes, which.reshape(size, -1), strict=True))


def test_draws_are_a_function_of_seed_and_number() -> None:
    """Not of the round, of the row or of how many rows there are."""
    masked: dict[str, Any] = {"informed": True, "masked": True}
    small = [round_of(each, **masked) for each in range(4)]
    large = round_of(0, rows=32, **masked)
    randomization = bind(SPEC, ROBOT)
    for field in ("theta", "seeds", "shown"):
        every = by_number(0, large, field)
        seen = set()
        for at, each in enumerate(small):
            for number, value in by_number(at, each, field).items():
                np.testing.assert_array_equal(value, every[number])
                seen.add(number)
        assert seen == set(every) == set(range(32 * 3))
    np.testing.assert_array_equal(
        large.theta.reshape(96, -1), randomization.sample(0, range(96))
    )
    other = round_of(0, seed=1, rows=32, **masked)
    assert not np.intersect1d(large.theta, other.theta).size
    assert not np.intersect1d(large.seeds, other.seeds).size


def test_episodes_of_a_training_are_none_of_an_evaluation() -> None:
    numbers = np.arange(2000)
    training = episode_seeds(3, numbers)
    graded = evaluation_seeds(3, np.arange(40), np.arange(50)).ravel()
    assert len(np.unique(training)) == len(np.unique(graded)) == 2000
    assert not np.intersect1d(training, graded).size
    assert episode_seeds(3 + 2**32, numbers[:1]) != training[0]


def test_simulator_critic_and_policy_are_given_the_same_parameters() -> None:
    found = round_of(2, informed=True)
    np.testing.assert_array_equal(found.draws.told, found.draws.shown)
    mass, gain, drag, hidden = np.moveaxis(found.theta, -1, 0)
    told = np.moveaxis(found.draws.told, -1, 0)
    np.testing.assert_allclose(told[0], 2.0 * mass - 1.0, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(told[1], (gain - 1.25) / 0.75, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(told[2], np.log10(drag), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(told[3], 2.0 * hidden - 1.0, rtol=1e-5, atol=1e-6)
    given = found.draws.theta
    assert set(given) == {*NAMES, "arm"}
    np.testing.assert_array_equal(given["gain"], gain.astype(np.float32))
    np.testing.assert_array_equal(given["arm"], np.ones_like(given["arm"]))
    assert round_of(2).draws.shown.shape == (8, 3, 0)  # not informed: not told


def told_sets() -> tuple[BoolArray, FloatArray]:
    """Return which parameters are told in many episodes, (n, 4), and the draws."""
    found = round_of(0, rows=4000, informed=True, masked=True)
    flags: BoolArray = found.draws.shown.reshape(-1, 8)[:, 4:].astype(np.bool_)
    return flags, found.theta.reshape(-1, 4)


def chance_of(counts: Any) -> float:
    """Return how likely counts as uneven as these are, if all were alike."""
    return float(chisquare(counts).pvalue)


def test_any_number_of_parameters_is_told_equally_often_and_any_of_them() -> None:
    flags, _ = told_sets()
    sizes = flags.sum(axis=1)
    assert chance_of(np.bincount(sizes, minlength=5)) > RARE
    codes = flags @ (1 << np.arange(4))
    for size in (1, 2, 3):
        counts = np.bincount(codes[sizes == size], minlength=16)
        alike = [bin(code).count("1") == size for code in range(16)]
        assert chance_of(counts[alike]) > RARE
        assert counts[np.invert(alike)].sum() == 0
    random = np.random.default_rng(0)  # the control: a coin for each parameter
    coins = (random.random(flags.shape) < 0.5).sum(axis=1)
    assert chance_of(np.bincount(coins, minlength=5)) < RARE


def test_what_is_told_says_nothing_of_the_values() -> None:
    """Not even of a parameter that is called `hidden`: its draws are its own.

    Means of a number in [0, 1] over the sets of a size, by Hoeffding's bound.
    """
    flags, theta = told_sets()
    for column in (0, 3):
        values = theta[:, column]
        for size in range(5):
            here = values[flags.sum(axis=1) == size]
            assert abs(here.mean() - 0.5) < np.sqrt(np.log(2 / RARE) / (2 * here.size))
    told = np.where(values < 0.2, 0, 4)  # the control: few are told if it is small
    here = values[told == 0]
    assert abs(here.mean() - 0.5) > np.sqrt(np.log(2 / RARE) / (2 * here.size))
