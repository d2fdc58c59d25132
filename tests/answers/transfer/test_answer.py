"""The answer of a transfer: returns that are known exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.continuous import Box, bind, parse_randomization
from simgap.errors import SimgapError
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
    beside = 5 * 2 + 3 * 16  # of the baseline, and of all at the nominal parameters
    assert (found.episodes, found.steps, found.horizon) == (20, 20 + beside, 1)
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


def test_a_verdict_is_measured_against_random_actions_or_a_baseline() -> None:
    """Over 0..4 the guess g loses (g - 2)^2 + c; the best guess is 2."""
    best = {"two": Guess(2.0)}
    found = graded({"three": Guess(3.0)}, references=best, baseline=Guess(5.0)).verdict
    assert found is not None and found.normalized_loss is not None
    assert found.normalized_loss.estimate == pytest.approx(1.0 / 9.0)
    assert (found.reference, found.compared) == ("two", 1.0)
    usual = graded({"three": Guess(3.0)}, references=best, episodes=32).verdict
    assert usual is not None and usual.baseline == "random"
    assert usual.normalized_loss is not None
    assert 0.0 < usual.normalized_loss.estimate < 0.1
    itself = graded(["r=random"], references=best, episodes=8).verdict
    assert itself is not None and itself.normalized_loss is not None
    assert itself.normalized_loss.estimate == 1.0  # it met the same episodes
    alone = graded({"one": Guess(1.0)}).verdict  # 1 is the nominal value
    assert alone is not None and alone.normalized_loss is None
    assert alone.drop is not None and alone.reference is None
    endless = replace(QUIET, action=Box(np.array([-np.inf]), np.array([np.inf])))
    without = simgap.transfer(
        endless, {"three": Guess(3.0)}, references=best, randomize="theta=0..4"
    ).verdict
    assert without is not None
    assert (without.code, without.baseline) == ("no-baseline", None)


def test_a_table_names_its_baseline_and_is_compared_where_it_has_no_holes(
    tmp_path: Path,
) -> None:
    means = {"new": (9, 9, 1, 1), "old": (10, 10, None, None), "idle": (0, 0, 0, 0)}
    rows = [
        f"{name},{mass},{k},{mean + 0.1 * (k % 3)}"
        for name, each in means.items()
        for mass, mean in enumerate(each)
        if mean is not None
        for k in range(9)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["policy,mass,episode,return", *rows]))
    told = simgap.transfer(returns=path, references=["old"], baseline="idle").verdict
    assert told is not None and told.normalized_loss is not None
    assert (told.code, told.compared, told.baseline) == ("partly-compared", 0.5, "idle")
    assert told.normalized_loss.estimate == pytest.approx(0.1)
    assert told.normalized_loss.upper < 0.11  # the compared part alone would be a yes
    with pytest.raises(SimgapError) as wrong:
        simgap.transfer(returns=path, references=["old"], baseline="random")
    assert wrong.value.code == "no-baseline"


@pytest.mark.parametrize("reference", ["random", "zero"])
def test_doing_nothing_on_cart_pole_is_no_yes(reference: str) -> None:
    found = simgap.transfer(
        "cartpole",
        {"nothing": "zero"},
        references={"known": reference},
        randomize="length=0.3..1.5 delay={0,1,2}",
        design="sobol:16",
        episodes=8,
        beyond=1.0,
        checked=False,
    )
    assert found.verdict is not None and found.verdict.code == "no-useful-reference"


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
    squares = []
    for policy in found.policies:
        theta = drawn.sample(policy.seed, range(64))[:, 0]
        mean = drawn.sample(policy.seed, range(20_000))[:, 0].mean()
        assert policy.final_return == pytest.approx(-np.mean((mean - theta) ** 2))
        squares.append(np.var((mean - theta) ** 2, ddof=1) / 64)
        assert (policy.converged, policy.curve) == (None, ())
    assert (found.told, found.randomize) == ("theta=0..4", "theta=0..4")
    assert not (found.specialist or found.informed or found.masked)
    assert found.provenance.seed == 3 and found.horizon == 1
    assert codes(found) == ["few-seeds"]
    assert found.made is not None and len(found.made.policies) == 2
    few = found.final_return  # of two trainings: it is about these very policies
    assert few.standard_error == pytest.approx(np.sqrt(sum(squares)) / 2)
    half = 1.979 * np.sqrt(sum(squares)) / 2
    assert few.upper - few.estimate == pytest.approx(half, 1e-3)
    many = own("none", seeds=3, seed=3)
    numbers = [each.final_return for each in many.policies]
    error = np.std(numbers, ddof=1) / np.sqrt(3)
    assert many.final_return.standard_error == pytest.approx(error)
    alone = own("nominal", nominal=True)
    assert alone.final_return.ends == (0.0, 0.0)  # the nominal value is guessed
    assert alone.specialist
