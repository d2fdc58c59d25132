"""The answer of a transfer: returns that are known exactly, and what they are of."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.answers.transfer.opened_run import given_run, opened_run
from simgap.answers.transfer.opened_work import opened_work
from simgap.answers.transfer.setup import brought, points_of
from simgap.answers.transfer.trained_run import is_run, read_run
from simgap.continuous import bind, open_simulator, parse_randomization
from simgap.errors import InvalidFile, SimgapError
from simgap.records import Train, Transfer, read_record
from tests.answers.target import Guess, MeanGuess, Target
from tests.note_codes import codes
from tests.report.study_cases import folder as study_folder

HOME: Any = import_module("simgap.answers.transfer.transfer")
RUN: Any = import_module("simgap.answers.transfer.trained_run")
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


def test_without_a_number_of_episodes_there_are_32_at_each_point() -> None:
    found = graded(episodes=None, beyond=1.5)
    inside = [each.inside for each in found.policies[0].points]
    assert inside == [True] * 5 + [False] * 2 and found.episodes == 7 * 32


def test_a_table_is_graded_as_it_is_asked(tmp_path: Path) -> None:
    lines = ["policy,mass,episode,return"]
    for name, lost in (("good", 0.0), ("weak", 1.0)):
        lines += [
            f"{name},{m},{k},{k % 3 - lost * m}" for m in (1, 2) for k in range(9)
        ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    found = simgap.transfer_table(
        path, references=["good"], threshold=1.5, confidence=0.8, bounds=(-5.0, 5.0)
    )
    weak = next(each for each in found.policies if each.name == "weak")
    assert weak.mean.confidence == 0.8 and weak.mean.estimate == pytest.approx(-0.5)
    assert weak.region is not None and weak.region.threshold == 1.5
    assert found.bounds == (-5.0, 5.0) and found.references == ("good",)
    assert (found.horizon, found.steps, found.provenance.seed) == (None, None, None)
    assert found.provenance.model == str(path) and found.episodes == 36
    assert (found.simulator, found.randomize) == ("", "")


def test_a_check_says_what_was_checked() -> None:
    told: list[str] = []
    given = {"two": Guess(2.0), "one": Guess(1.0)}
    found = simgap.check(
        QUIET, given, randomize="theta=0..4", seed=3, progress=told.append
    )
    assert found.passed is all(each.status != "fail" for each in found.checks)
    assert (found.policy, found.randomize) == ("two, one", "theta=0..4")
    assert (found.horizon, found.simulator) == (1, "target") and len(told) == 2
    assert (found.provenance.seed, found.provenance.model) == (3, "target")


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


def test_a_run_says_what_is_measured_and_options_come_before_it() -> None:
    trainings = [own("none", seeds=2), own("nominal", nominal=True)]
    more: dict[str, Any] = {"design": "grid:5", "episodes": 1, "beyond": 1.0}
    found = simgap.transfer(trainings, **more)
    assert [each.name for each in found.policies] == ["none", "nominal"]
    assert [each.training_seeds for each in found.policies] == [2, 1]
    assert found.randomize == "theta=0..4" and found.horizon == 1
    (worth,) = found.worths
    mean = float(np.mean([each.mean.estimate for each in found.policies[:1]]))
    assert worth.value.estimate == pytest.approx(mean - -2.5)
    narrow = simgap.transfer(
        trainings, {"zero": Guess(0.0)}, randomize="theta=1..2", **more
    )
    assert narrow.randomize == "theta=1..2"
    assert [each.name for each in narrow.policies] == ["none", "nominal", "zero"]
    told = own("told", informed=True)
    with pytest.raises(InvalidFile) as caught:
        simgap.transfer([told], **more)
    assert caught.value.code == "nothing-to-grade"
    beside = simgap.transfer([told], {"zero": Guess(0.0)}, **more)
    assert beside.references == ("told",)


def test_a_folder_of_trainings_is_read_with_memory_first(tmp_path: Path) -> None:
    assert not is_run(tmp_path) and not is_run(tmp_path / "nothing")
    place = study_folder(tmp_path)
    assert is_run(place)
    run = read_run(place)
    assert [each.name for each in run.trainings] == [
        "gru",
        "masked-gru",
        "informed-none",
        "none",
        "nominal-gru",
    ]
    assert run.folder == place
    assert run.policies["gru"][0] == str(place / "gru" / "seed-0.onnx")
    with pytest.raises(SimgapError) as caught:
        given_run("gym:CartPole-v1")
    assert caught.value.code == "no-run"


def test_trainings_are_opened_at_the_points_of_a_design() -> None:
    run = given_run([own("none", seeds=2), own("other")])
    found = opened_run(run, ["other", "none"], design="grid:5", seed=3)
    assert [(each.name, each.training_seed) for each in found.ready.entries] == [
        ("other", 0),
        ("none", 0),
        ("none", 1),
    ]
    assert found.where.points.theta[:, 0].tolist() == POINTS
    assert found.where.points.inside.all()
    assert found.ready.recipe is None  # an object is for this process alone
    assert (found.ready.work.horizon, found.ready.work.seed) == (1, 3)


def test_another_process_makes_the_same_work() -> None:
    text = "model:riverswim?states=3&success=0.2,0.5"
    simulator = open_simulator(text)
    drawn = bind(parse_randomization("success={0.2,0.5}"), simulator)
    where = points_of(drawn, "grid:2", 1.0, 5)
    more: dict[str, Any] = {"horizon": 7, "noise": "", "seed": 5}
    ready = opened_work(
        text, simulator, drawn, brought(["zero", "random"]), where, **more
    )
    assert ready.recipe is not None
    work = ready.recipe()
    assert [each.name for each in work.policies] == ["zero", "random"]
    assert (work.horizon, work.seed, work.simulator.name) == (7, 5, simulator.name)
    assert work.points.theta.tolist() == where.points.theta.tolist()
    assert work.points.inside.tolist() == where.points.inside.tolist()
    assert work.randomization.to_string() == drawn.to_string()
    assert ready.identity["horizon"] == "7" and ready.identity["seed"] == "5"
    parts = {"policy zero 0", "policy random 0", "points", "bounds", "noise"}
    assert parts <= set(ready.identity)
    given = brought(lambda state, memory: (0, memory))
    assert opened_work(text, simulator, drawn, given, where, **more).recipe is None
