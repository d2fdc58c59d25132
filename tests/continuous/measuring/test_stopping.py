"""Stopping early: when, and that the intervals hold all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from simgap.continuous import Cube, Rounds, next_round
from simgap.continuous.measuring.means import Level, mean_at
from simgap.continuous.measuring.value import FIXED, measured_return
from simgap.errors import InvalidArgument
from tests.continuous.measuring.coverage import Coverage, holds

MOST = 1024


def cube(returns: np.ndarray, bounds: tuple[float, float] | None) -> Cube:
    """Return one policy at as many points as there are rows."""
    return Cube(
        policies=("a",),
        parameters=("mass",),
        theta=np.arange(len(returns), dtype=float)[:, None],
        inside=np.ones(len(returns), dtype=bool),
        returns=returns[None, None],
        bounds=bounds,
    )


def until_stopped(whole: np.ndarray, rounds: Rounds) -> tuple[Cube, int, str]:
    """Return what was measured when it was enough, and the look."""
    episodes, look = rounds.first, 1
    while True:
        seen = cube(whole[:, :episodes], (0.0, 1.0))
        found = next_round(rounds, seen, look=look, steps=10 * episodes)
        if found.episodes is None:
            return seen, look, found.why
        assert episodes < found.episodes <= 2 * episodes
        episodes, look = found.episodes, look + 1


def test_returns_that_vary_little_stop_first() -> None:
    rng = np.random.default_rng(0)
    rounds = Rounds(half_width=0.1)
    still, look, why = until_stopped(np.full((3, MOST), 0.4), rounds)
    assert why == "half-width-reached"
    loud, later, why = until_stopped(rng.integers(2, size=(3, MOST)) * 0.9, rounds)
    assert why == "half-width-reached"
    assert later > look
    assert loud.episodes > still.episodes
    level = Level(0.95, later)
    for point in range(3):
        found = mean_at(measured_return(loud, "a", FIXED), point, level)
        assert found.upper - found.lower <= 0.2


def test_a_budget_is_kept_and_used() -> None:
    whole = np.random.default_rng(1).random((2, MOST))
    seen, _, why = until_stopped(whole, Rounds(budget=1000))
    assert (why, seen.returns.shape[-1]) == ("budget-spent", 100)
    seen, _, why = until_stopped(whole, Rounds(budget=100))
    assert (why, seen.returns.shape[-1]) == ("budget-spent", 16)
    seen, _, why = until_stopped(whole, Rounds(most=50))
    assert (why, seen.returns.shape[-1]) == ("most-episodes", 50)


def test_gaps_decide_where_there_is_a_reference() -> None:
    """Noise that both policies share needs no episodes."""
    noise = np.random.default_rng(2).normal(size=(4, 64))
    both = Cube(
        policies=("a", "b"),
        parameters=("mass",),
        theta=np.arange(4.0)[:, None],
        inside=np.ones(4, dtype=bool),
        returns=np.stack([noise, noise + 1.0])[:, None],
        references=("b",),
    )
    rounds = Rounds(half_width=0.01)
    assert next_round(rounds, both, look=1, steps=1).why == "half-width-reached"
    alone = replace(both, references=())
    assert next_round(rounds, alone, look=1, steps=1).episodes == 128


@pytest.mark.parametrize("name", ["first", "half_width", "budget", "most"])
def test_what_is_not_above_zero_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match=name.replace("_", "-")):
        Rounds(**{name: 0})


def test_intervals_hold_although_they_decided_when_to_stop() -> None:
    """Failures of 3 %: a t interval that is looked at stops when it met none."""
    found = Coverage()
    rounds = Rounds(first=16, half_width=0.06, most=MOST)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        whole = np.where(rng.random((1, MOST)) < 0.03, 0.0, rng.uniform(0.8, 0.9))
        truth = 0.97 * float(whole.max())
        seen, look, _ = until_stopped(whole, rounds)
        told = mean_at(measured_return(seen, "a", FIXED), 0, Level(0.95, look))
        assert told.guaranteed is not None
        found.add("stopped", holds(told.guaranteed, truth))
        episodes = 16
        while True:
            values = whole[0, :episodes]
            half = student.ppf(0.975, episodes - 1) * values.std(ddof=1)
            half = float(half / np.sqrt(episodes))
            if half <= 0.06 or episodes >= MOST:
                break
            episodes *= 2
        found.add("peeking", abs(values.mean() - truth) <= half)
    found.check("stopped")
    found.fails("peeking")
