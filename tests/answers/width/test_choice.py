"""The narrowest width that is good enough, from returns whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from simgap.answers.width.choice import Choice, chosen_width
from simgap.continuous import Cube, Drawn, DrawnPoints

NAMES = ("a", "b", "c", "d")
POINTS, SPARE = 16, 1.0


def cube_of(
    means: Sequence[float], *, seeds: int, spread: float, noise: float, luck: int
) -> Cube:
    """Return returns of policies whose trainings and episodes differ by chance.

    What differs between episodes and points is common to all, as with common starts.
    """
    random = np.random.default_rng(luck)
    shape = (len(means), seeds, POINTS, 4)
    common = random.normal(size=shape[2:]) * 10.0
    trainings = random.normal(size=shape[:2]) * spread
    own = random.normal(size=shape) * noise
    theta = np.linspace(0.0, 1.0, POINTS)[:, None]
    return Cube(
        policies=NAMES[: len(means)],
        parameters=("theta",),
        theta=theta,
        inside=np.ones(POINTS, np.bool_),
        returns=np.array(means)[:, None, None, None]
        + trainings[..., None, None]
        + common
        + own,
    )


def chosen(cube: Cube, confidence: float = 0.95) -> Choice:
    points = DrawnPoints(Drawn.INDEPENDENT)
    return chosen_width(cube, cube.policies, points, spare=SPARE, confidence=confidence)


def test_the_narrowest_width_within_the_slack_is_found() -> None:
    found = chosen(
        cube_of((0.0, 4.0, 9.5, 10.0), seeds=5, spread=0.05, noise=0.1, luck=0)
    )
    assert found.verdicts == ("not enough", "not enough", "enough", "enough")
    assert (found.best, found.recommended, found.guess) == (3, 2, 2)
    lost = found.behind[0]
    assert lost is not None and lost.value.lower < 10.0 < lost.value.upper
    assert found.behind[3] is None


def test_a_wide_range_that_is_not_learnt_is_not_recommended() -> None:
    found = chosen(
        cube_of((9.9, 10.0, 8.0, 2.0), seeds=5, spread=0.05, noise=0.1, luck=1)
    )
    assert found.verdicts == ("enough", "enough", "not enough", "not enough")
    assert (found.best, found.recommended) == (1, 0)


def test_if_all_widths_are_alike_the_narrowest_will_do() -> None:
    found = chosen(cube_of((5.0,) * 4, seeds=5, spread=0.05, noise=0.1, luck=2))
    assert found.recommended == found.guess == 0


@pytest.mark.parametrize(
    ("seeds", "spread", "noise"), [(5, 2.0, 0.1), (5, 0.05, 30.0), (3, 0.9, 0.1)]
)
def test_what_intervals_do_not_separate_is_undecided(
    seeds: int, spread: float, noise: float
) -> None:
    """Trainings that differ much, noisy episodes, or too few trainings."""
    found = chosen(
        cube_of((0.0, 8.5, 10.0), seeds=seeds, spread=spread, noise=noise, luck=3)
    )
    assert found.recommended is None
    assert "open" in found.verdicts


def wrong(runs: int, *, seeds_count: bool) -> tuple[int, int]:
    """Return how many recommendations were made, and how many of them were wrong.

    The second policy is just within the slack, the first one just not.
    """
    made = missed = 0
    for luck in range(runs):
        cube = cube_of((8.9, 9.1, 10.0), seeds=4, spread=0.4, noise=0.1, luck=luck)
        if not seeds_count:  # as if the mean over seeds were one policy
            mean = cube.returns.mean(axis=1, keepdims=True)
            cube = replace(cube, returns=mean)
        found = chosen(cube).recommended
        made += found is not None
        missed += found not in (None, 1)
    return made, missed


def test_a_recommendation_is_wrong_at_most_as_often_as_it_says() -> None:
    runs = 300
    _, missed = wrong(runs, seeds_count=True)
    assert missed <= binom.isf(1e-3, runs, 0.05)
    _, control = wrong(runs, seeds_count=False)  # without the spread of trainings
    assert control > binom.isf(1e-3, runs, 0.05)
