"""The answer of a transfer: returns that are known exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.continuous import bind, parse_randomization
from simgap.records.files import read_record
from simgap.records.train import Train
from simgap.records.transfer import Transfer
from tests.answers.target import Guess, MeanGuess, Target
from tests.note_codes import codes

QUIET = Target(noise=0.0)
POINTS = [0.0, 1.0, 2.0, 3.0, 4.0]


def graded(policies: Any = Guess(2.0), **more: Any) -> Transfer:  # noqa: B008 (frozen)
    usual: dict[str, Any] = {
        "randomize": "theta=0..4",
        "design": "grid:5",
        "episodes": 2,
        "beyond": 1.0,
    }
    return simgap.transfer(QUIET, policies, **{**usual, **more})


def test_a_return_without_noise_is_that_of_the_formula(tmp_path: Path) -> None:
    told: list[str] = []
    given = {"two": Guess(2.0), "zero": Guess(0.0)}
    found = graded(given, seed=4, out=tmp_path / "run", progress=told.append)
    for policy, guess in zip(found.policies, (2.0, 0.0), strict=True):
        got = {each.theta["theta"]: each.returned.estimate for each in policy.points}
        assert got == {theta: -((guess - theta) ** 2) for theta in POINTS}
        assert all(each.inside and each.episodes == 2 for each in policy.points)
    ends = (0.5, 1.0, 1.0, 1.0, 0.5)  # what a point of a grid stands for
    for policy in found.policies:
        every = [each.returned.estimate for each in policy.points]
        assert policy.mean.estimate == pytest.approx(np.dot(ends, every) / 4.0)
    assert (found.episodes, found.steps, found.horizon) == (20, 20, 1)
    assert (found.design, found.randomize) == ("grid:5", "theta=0..4")
    assert found.provenance.seed == 4 and found.provenance.model == found.simulator
    assert found.references == () and found.value_of_memory is None
    assert found.worths == () and found.paired
    assert "seed-ignored" not in codes(found)
    with np.load(tmp_path / "run" / "returns.npz") as kept:
        assert kept["returns"].shape == (2, 1, 5, 2)
        assert kept["theta"][:, 0].tolist() == POINTS and kept["inside"].all()
        assert kept["policies"].tolist() == ["two", "zero"]
        assert kept["parameters"].tolist() == ["theta"] and "success" not in kept
    assert read_record(tmp_path / "run" / "transfer.json", Transfer) == found
    assert "computing intervals" in told


def test_a_reference_is_what_is_lost_against() -> None:
    found = graded({"two": Guess(2.0)}, references={"one": Guess(1.0)})
    assert found.references == ("one",)
    two = found.policies[0]
    lost = {each.theta["theta"]: each.gap.estimate for each in two.points if each.gap}
    assert lost == {x: (2.0 - x) ** 2 - (1.0 - x) ** 2 for x in POINTS}


# trainings


def own(name: str, **more: Any) -> Train:
    return simgap.train(
        QUIET,
        randomize="theta=0..4",
        memory="none",
        train_fn=MeanGuess(),
        name=name,
        **more,
    )


def test_what_a_trained_policy_gets_is_its_mean_over_64_draws() -> None:
    found = own("none", seeds=2, seed=3)
    drawn = bind(parse_randomization("theta=0..4"), QUIET)
    for policy in found.policies:
        theta = drawn.sample(policy.seed, range(64))[:, 0]
        mean = drawn.sample(policy.seed, range(20_000))[:, 0].mean()
        assert policy.final_return == pytest.approx(-np.mean((mean - theta) ** 2))
        assert (policy.converged, policy.curve) == (None, ())
    assert (found.told, found.randomize) == ("theta=0..4", "theta=0..4")
    assert not (found.specialist or found.informed or found.masked)
    assert found.provenance.seed == 3 and found.horizon == 1
    assert codes(found) == ["few-seeds"]
    assert found.made is not None and len(found.made.policies) == 2
    alone = own("nominal", nominal=True)
    assert alone.final_return.ends == (0.0, 0.0)  # the nominal value is guessed
    assert alone.specialist
