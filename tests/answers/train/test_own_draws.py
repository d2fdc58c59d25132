"""Draws of a user, by `simgap.train`: what is trained for, and what is refused."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.arrays import FloatArray
from simgap.continuous import Returns
from simgap.errors import InvalidArgument
from simgap.records.train import Train
from tests.answers.target import Target

ROWS = 64
Random = np.random.Generator


def train(out: Path, draws: Any, *, rounds: int = 8, **more: Any) -> Train:
    """Train to guess a number unseen: the best guess is the mean of what is drawn."""
    given: dict[str, Any] = {
        "randomize": "theta=-3..3",
        "memory": "none",
        "steps": rounds * ROWS,
        "settings": {"rows": ROWS, "units": 8, "rate": 0.03},
        "checked": False,
        "draws": draws,
        "out": out,
        **more,
    }
    found: Train = simgap.train(Target(noise=0.0), **given)
    return found


def upper_end(rng: Random, episodes: int, past: Returns) -> FloatArray:
    return np.full((episodes, 1), 3.0)


@pytest.mark.slow
def test_draws_at_one_end_train_for_that_end(tmp_path: Path) -> None:
    """There the best guess loses nothing; over nu it loses the variance, 3."""
    end = train(tmp_path, upper_end, rounds=60)
    nu = train(tmp_path, None, rounds=60)
    assert (end.name, end.draws) == ("none-upper-end", "upper_end")
    assert (nu.name, nu.draws) == ("none", "")
    graded = simgap.transfer(
        Target(noise=0.0),
        {each.name: each.policies[0].file for each in (end, nu)},
        randomize="theta=2.99..3",
        design="sobol:4",
        episodes=4,
        checked=False,
    )
    lost = {each.name: -each.mean.estimate for each in graded.policies}
    assert lost["none-upper-end"] < 0.1
    assert lost["none"] > 4.0  # the control: the mean of nu is 3 away


@pytest.mark.parametrize(
    "theta", [np.zeros(5), [[0.0]], [[0.0], [1.0, 2.0]], "3", None, nan, np.inf, 3.1]
)
def test_wrong_draws_are_refused(theta: Any, tmp_path: Path) -> None:
    def wrong(rng: Random, episodes: int, past: Returns) -> Any:
        good = np.zeros((episodes, 1))
        if isinstance(theta, float):
            good[7] = theta
            return good
        return theta

    with pytest.raises(InvalidArgument) as refused:
        train(tmp_path, wrong)
    assert refused.value.code == "wrong-draws"
    assert ("episode 7" in refused.value.problem) == isinstance(theta, float)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"nominal": True}, "nothing-to-draw"),
        ({"at": "theta=1"}, "nothing-to-draw"),
        (
            {"train_fn": print, "steps": None, "settings": None},
            "not-for-own-trainer",
        ),
    ],
)
def test_draws_where_nothing_is_drawn_are_refused(
    more: dict[str, Any], code: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with pytest.raises(InvalidArgument) as refused:
        train(out, upper_end, **more)
    assert refused.value.code == code
    assert not out.exists()
