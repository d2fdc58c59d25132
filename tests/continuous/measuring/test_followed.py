"""Episodes step by step, and what is told of them, where all numbers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.continuous import (
    Drawn,
    DrawnPoints,
    Entry,
    Level,
    PartlyTold,
    explained,
    followed,
    mean_over,
    measured,
    returns_of_trainings,
    step_losses,
)
from simgap.continuous.measuring.bands import band_around
from tests.continuous.measuring.guess import VARIANCES, Guesser, work
from tests.continuous.measuring.line import LineRecipe

HORIZON, LEARNT = 20, 7  # from step LEARNT + 1 on the late guesser knows theta


def rewards(*guessers: Guesser) -> FloatArray:
    where = work(*guessers)
    return np.stack([followed(where, at).rewards for at in range(len(guessers))])


def test_rewards_of_steps_add_up_to_the_returns_of_a_measurement() -> None:
    line = LineRecipe(points=6)()
    whole = measured(line, [Entry("half"), Entry("all")], episodes=1).cube
    for at in range(2):
        found = followed(line, at).rewards
        assert found.shape == (6, 5)
        assert found.sum(axis=1) == pytest.approx(whole.returns[at, 0, :, 0])


def test_after_the_end_there_is_no_reward_and_no_memory() -> None:
    found = followed(work(Guesser(), ends=4), 0, (1, 4, 5))
    assert (found.rewards[:, 4:] == 0.0).all()
    assert np.isfinite(found.memory[0]).all()
    assert np.isfinite(found.memory[1]).all()
    assert np.isnan(found.memory[2]).all()


def test_a_broken_episode_has_no_rewards_and_no_memory() -> None:
    class Breaks:
        name = "breaks"
        told = ("mass", "length")
        informed = True
        inner = Guesser()

        def reset(self, batch: object) -> object:
            return self.inner.reset(batch)  # type: ignore[arg-type]

        def act(self, observations: FloatArray, memory: object) -> object:
            raw, after = self.inner.act(observations, memory)  # type: ignore[arg-type]
            raw[3] = np.nan
            return raw, after

        def remembered(self, memory: object) -> FloatArray:
            return self.inner.remembered(memory)  # type: ignore[arg-type]

    found = followed(work(Breaks(), worlds=10), 0, (2,))  # type: ignore[arg-type]
    assert np.isnan(found.rewards[3]).all()
    assert np.isnan(found.memory[0][3]).all()
    assert np.isfinite(np.delete(found.rewards, 3, axis=0)).all()


def test_what_is_told_is_worth_the_variance_of_what_is_not() -> None:
    """v(S) = - H times the variance of the parameters that are not told."""
    guesser = Guesser()
    sets: list[frozenset[str]] = [
        frozenset(),
        frozenset({"mass"}),
        frozenset({"length"}),
    ]
    where = work(*(PartlyTold(guesser, each) for each in sets), worlds=2000)
    cube = measured(where, [Entry(str(at)) for at in range(3)], episodes=1).cube
    returns = returns_of_trainings(cube, DrawnPoints(Drawn.INDEPENDENT))
    for at, hidden in enumerate(("mass length", "length", "mass")):
        found = mean_over(returns[at], cube.inside, Level())
        truth = -HORIZON * sum(VARIANCES[name] for name in hidden.split())
        assert found.lower <= truth <= found.upper
    worth = mean_over(returns[1] - returns[0], cube.inside, Level())
    assert worth.lower <= HORIZON * VARIANCES["mass"] <= worth.upper
    assert worth.upper < 1.2 * HORIZON * VARIANCES["mass"]


def test_what_is_lost_ends_when_the_policy_has_found_out() -> None:
    late, knows = rewards(*[Guesser(LEARNT)] * 3), rewards(*[Guesser()] * 2)
    found = step_losses(knows, late)
    both = sum(VARIANCES.values())
    assert found.value.settled == LEARNT + 1
    assert found.value.lower[:LEARNT] == pytest.approx(both, rel=0.3)
    assert (found.value.mean[LEARNT:] == 0.0).all()
    assert found.total.value.estimate == pytest.approx(found.value.mean.sum())
    assert found.total.value.lower <= LEARNT * both <= found.total.value.upper


def test_what_is_lost_until_the_end_is_never_settled() -> None:
    never, knows = rewards(Guesser(HORIZON)), rewards(Guesser())
    assert step_losses(knows, never).value.settled is None
    assert step_losses(never, knows).value.settled == 1  # nothing is lost by knowing


def curves(rng: np.random.Generator, count: int, size: float) -> FloatArray:
    """Return curves whose neighbouring steps are alike."""
    steps = np.arange(60)
    alike = np.exp(-np.abs(steps[:, None] - steps) / 8.0)
    drawn: FloatArray = rng.standard_normal((count, 60)) @ np.linalg.cholesky(alike).T
    return size * drawn


def test_a_band_holds_at_all_steps_at_once_if_it_knows_its_sources() -> None:
    """Of 100 bands at 95 %, 85 or fewer are met with a chance of 1 in 10^4."""
    rng, whole, alone, one_by_one = np.random.default_rng(0), 0, 0, 0
    for _ in range(100):
        worlds, seeds = curves(rng, 36, 1.0), curves(rng, 5, 0.8)
        mean = worlds.mean(axis=0) + seeds.mean(axis=0)
        band = band_around(mean, [worlds, seeds])
        whole += bool(((band.lower <= 0.0) & (band.upper >= 0.0)).all())
        band = band_around(mean, [worlds])
        alone += bool(((band.lower <= 0.0) & (band.upper >= 0.0)).all())
        reach = 2.03 * worlds.std(axis=0, ddof=1) / 6.0
        one_by_one += bool((np.abs(worlds.mean(axis=0)) <= reach).all())
    assert whole > 85
    assert alone < 50  # the spread of trainings left out
    assert one_by_one < 75  # intervals for each step alone


def read(guesser: Guesser, step: int, *, wrong: bool = False) -> dict[str, float]:
    """Return R^2 of both parameters in the memory at a step, in 200 worlds."""
    where = work(guesser)
    memory = followed(where, 0, (step,)).memory
    theta = where.points.theta
    if wrong:
        theta = theta[np.random.default_rng(0).permutation(len(theta))]
    found = {}
    for at, name in enumerate(("mass", "length")):
        told = explained(memory, theta[:, [at]])
        assert told is not None
        found[name] = told.estimate
    return found


def test_a_memory_that_is_theta_explains_all_of_it_and_one_that_forgets_nothing() -> (
    None
):
    assert read(Guesser(LEARNT), LEARNT + 1) == pytest.approx(
        {"mass": 1.0, "length": 1.0}, abs=1e-6
    )
    for nothing in (
        read(Guesser(LEARNT), LEARNT - 1),
        read(Guesser(forgets=True), LEARNT + 1),
        read(Guesser(), LEARNT + 1, wrong=True),
    ):
        assert nothing == pytest.approx({"mass": 0.0, "length": 0.0}, abs=0.1)


def noisy(seeds: int, worlds: int) -> tuple[list[FloatArray], FloatArray]:
    """Return memories of half signal and half noise: the best R^2 is one half."""
    rng = np.random.default_rng(3)
    theta = rng.standard_normal((worlds, 1))
    return [theta + rng.standard_normal((worlds, 1)) for _ in range(seeds)], theta


def test_the_interval_of_r_squared_holds_the_best_and_is_narrow_with_many_worlds() -> (
    None
):
    for worlds, width in ((200, 0.4), (4000, 0.1)):
        found = explained(*noisy(3, worlds))
        assert found is not None
        assert found.lower <= 0.5 <= found.upper
        assert found.upper - found.lower < width


def test_too_few_worlds_are_not_read_and_more_numbers_than_worlds_do_no_harm() -> None:
    memories, theta = noisy(1, 30)
    assert explained(memories, theta) is None
    rng = np.random.default_rng(0)
    wide = explained([rng.standard_normal((100, 300))], rng.standard_normal((100, 1)))
    assert wide is not None
    assert wide.estimate == pytest.approx(0.0, abs=0.15)


def test_worlds_where_an_episode_was_over_are_left_out() -> None:
    memories, theta = noisy(2, 400)
    memories[1][::3] = np.nan
    found = explained(memories, theta)
    assert found is not None
    assert found.lower <= 0.5 <= found.upper


def test_partly_told_hides_what_is_not_named() -> None:
    where = work(PartlyTold(Guesser(), frozenset({"length"})), worlds=50)
    found = followed(where, 0).rewards[:, 0]
    assert found == pytest.approx(-(where.points.theta[:, 0] ** 2))
    all_told = replace(where, policies=(Guesser(),))
    assert followed(all_told, 0).rewards == pytest.approx(0.0)
