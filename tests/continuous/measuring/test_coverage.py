"""Intervals of means, gaps and worst points hold the truth as often as they say.

Each check has a control: the naive number, which must fail on the same surfaces.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc, t as student

from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import Drawn
from simgap.continuous.measuring.gaps import gap_at_points, losses, mean_gap
from simgap.continuous.measuring.means import Level, mean_over
from simgap.continuous.measuring.value import FIXED, measured_return
from simgap.continuous.measuring.worst import worst_gap, worst_point
from tests.continuous.measuring.coverage import Coverage, holds, sure
from tests.continuous.measuring.surfaces import (
    Surface,
    drawn_points,
    measured,
    random_surface,
)

BOUNDS = (-25.0, 25.0)
LEVEL = Level(0.95)
QUICK, FULL = 60, 300


def everywhere(parameters: int) -> np.ndarray:
    return qmc.Sobol(parameters, rng=np.random.default_rng(99)).random(2**13)


def true_gap(surfaces: list[Surface], u: np.ndarray) -> np.ndarray:
    means = np.stack([each.at(u) for each in surfaces])
    return np.asarray(means[1:].max(axis=0) - means[0])


def one_surface(seed: int, drawn: Drawn, bounded: bool, found: Coverage) -> None:
    """Grade one policy against two references on one random surface."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4))
    surfaces = [random_surface(rng, size) for _ in range(3)]
    surfaces = [Surface(surfaces[0].shapes, s.alone, s.together) for s in surfaces]
    fixed = drawn in (Drawn.EVERY, Drawn.CHOSEN)
    points = {1: 9, 2: 4, 3: 3}[size] if fixed else 64
    u, theta, design = drawn_points(rng, drawn, surfaces[0], points)
    bounds = BOUNDS if bounded else None
    episodes = int(rng.choice([8, 30]))
    kind = int(rng.integers(3)) if bounded else 0
    even = kind == 0
    cube = measured(
        rng, surfaces, theta, u, episodes, bounds=bounds, references=2, kind=kind
    )
    whole = u if fixed else everywhere(size)
    means = surfaces[0].at(u)
    inside = cube.inside
    mean = mean_over(measured_return(cube, "a", design), inside, LEVEL)
    found.add("mean", holds(mean, float(surfaces[0].at(whole).mean())))
    lost = losses(cube, "a", design)
    assert lost is not None
    gap = mean_gap(lost, inside, LEVEL)
    found.add("gap", holds(gap, float(true_gap(surfaces, whole).mean())))
    gaps = true_gap(surfaces, u)
    for at, each in enumerate(gap_at_points(lost, LEVEL)):
        assert each is not None
        found.add("gap at a point", holds(sure(each[0], even=even), float(gaps[at])))
    worst = worst_point(measured_return(cube, "a", design), cube, LEVEL)
    at = place(cube, worst.theta)
    ends = sure(worst.number, even=even)
    found.add("worst", ends.lower <= means[at] <= ends.upper)
    found.add("the least return is not above", means.min() <= ends.upper)
    lost_most = worst_gap(lost, cube, inside, LEVEL)
    against = [s.at(u)[place(cube, lost_most.theta)] for s in surfaces]
    chosen = [each - against[0] for each in against[1:]]
    most = sure(lost_most.number, even=even)
    found.add("worst gap", any(holds(most, each) for each in chosen))


def place(cube: Cube, theta: dict[str, float]) -> int:
    return int(np.abs(cube.theta - np.array([*theta.values()])).sum(axis=1).argmin())


CLAIMS = ("mean", "gap", "gap at a point", "worst", "worst gap")


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("drawn", list(Drawn))
def test_intervals_hold_as_often_as_they_say(drawn: Drawn, bounded: bool) -> None:
    found = Coverage()
    for seed in range(QUICK // 8):
        one_surface(seed, drawn, bounded, found)
    found.check(*CLAIMS, "the least return is not above")


def naive(values: np.ndarray) -> tuple[float, float]:
    """Return the t interval of samples."""
    half = student.ppf(0.975, values.size - 1) * values.std(ddof=1)
    return (
        values.mean() - half / np.sqrt(values.size),
        values.mean() + half / np.sqrt(values.size),
    )


FLAT = Surface((0,), np.zeros(1), {})


def test_the_least_of_many_means_is_chosen_for_its_bad_luck() -> None:
    """A flat surface: every point is the worst one, and its return is 0."""
    found = Coverage()
    for seed in range(QUICK):
        rng = np.random.default_rng(seed)
        u, theta, _ = drawn_points(rng, Drawn.INDEPENDENT, FLAT, 64)
        cube = measured(rng, [FLAT], theta, u, 16, bounds=None)
        worst = worst_point(measured_return(cube, "a", FIXED), cube, LEVEL)
        found.add("worst", worst.lower <= 0.0 <= worst.upper)
        values = cube.of("a")[0]
        low, high = naive(values[values.mean(axis=1).argmin()])
        found.add("naive", low <= 0.0 <= high)
    found.check("worst")
    found.fails("naive")


def test_the_best_of_many_references_is_chosen_for_its_good_luck() -> None:
    """Flat surfaces: the gap is 0, the mean of greatest means is far above."""
    found = Coverage()
    for seed in range(QUICK):
        rng = np.random.default_rng(seed)
        u, theta, design = drawn_points(rng, Drawn.INDEPENDENT, FLAT, 64)
        cube = measured(rng, [FLAT] * 5, theta, u, 8, bounds=BOUNDS, references=4)
        lost = losses(cube, "a", design)
        assert lost is not None
        gap = mean_gap(lost, cube.inside, LEVEL)
        assert gap.guaranteed is not None
        found.add("gap", holds(gap, 0.0))
        found.add("guaranteed", holds(gap.guaranteed, 0.0))
        low, high = naive(lost.chosen_on_all().means)
        found.add("naive", low <= 0.0 <= high)
    found.check("gap", "guaranteed")
    found.fails("naive")


def test_differences_of_the_same_episodes_are_less_noisy() -> None:
    """Half of the noise is shared: a fifth of the variance is left, in theory."""
    rng = np.random.default_rng(0)
    u, theta, _ = drawn_points(rng, Drawn.INDEPENDENT, FLAT, 256)
    cube = measured(rng, [FLAT] * 2, theta, u, 16, bounds=None, references=1)
    mine, theirs = (measured_return(cube, each, FIXED) for each in "ab")
    paired = (theirs - mine).values.var()
    others = (theirs.values - mine.values[::-1]).var()
    assert paired == pytest.approx(0.2 * others, rel=0.1)


def test_the_spread_of_training_seeds_is_kept() -> None:
    """Seeds that differ by 1: episodes alone say that the mean is known to 0.1."""
    found = Coverage()
    for seed in range(QUICK):
        rng = np.random.default_rng(seed)
        surface = random_surface(rng, 1)
        u, theta, design = drawn_points(rng, Drawn.SCRAMBLED, surface, 64)
        cube = measured(rng, [surface], theta, u, 8, bounds=None, seeds=6, spread=1.0)
        mean = mean_over(measured_return(cube, "a", design), cube.inside, LEVEL)
        found.add("mean", holds(mean, 0.0))
        low, high = naive(
            cube.of("a").mean(axis=0).ravel() - np.repeat(surface.at(u), 8)
        )
        found.add("episodes alone", low <= 0.0 <= high)
    found.check("mean")
    found.fails("episodes alone")


@pytest.mark.slow
@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("drawn", list(Drawn))
def test_intervals_hold_on_three_hundred_surfaces(drawn: Drawn, bounded: bool) -> None:
    found = Coverage()
    for seed in range(FULL):
        one_surface(seed, drawn, bounded, found)
    found.check(*CLAIMS, "the least return is not above")
