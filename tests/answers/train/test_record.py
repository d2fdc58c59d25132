"""The record of a training: numbers over seeds and rounds, by hand."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from simgap.answers.train.asked import asked_training
from simgap.answers.train.over_seeds import over_seeds
from simgap.answers.train.train import (
    kept_record,
    learner_settings,
    seeds_from,
    training_recipe,
)
from simgap.continuous import Outcome, TrainedSeed, TrainingRecipe, parse_memory
from simgap.errors import InvalidArgument
from simgap.records import Train, read_record
from tests.note_codes import codes


def recipe(out: Path, **more: Any) -> TrainingRecipe:
    usual: dict[str, Any] = {
        "randomize": "gain=0.5..1.5",
        "memory": "none",
        "horizon": 10,
        "steps": 64_000,
        "settings": {"rows": 64, "units": 8},
        "checked": False,
    }
    return training_recipe("servo", **{**usual, **more}, out=out)


def done(training: TrainingRecipe, seed: int, returns: Any, **more: Any) -> TrainedSeed:
    numbers = np.array(returns, float)
    usual: dict[str, Any] = {
        "outcome": Outcome.CONVERGED,
        "final_return": float(numbers[-1]),
        "steps": 640 * numbers.size,
        "seconds": 2.0,
        "fresh_steps": 640,
    }
    given = {**usual, **more}
    return TrainedSeed(training, seed, training.file(seed), returns=numbers, **given)


def test_a_record_is_about_all_seeds_in_their_order(tmp_path: Path) -> None:
    """The second was at its end in three seconds, the first not in one."""
    training = recipe(tmp_path, name="mine", noise="action=0.1")
    rough = done(training, 3, [1.0, 2.0], outcome=Outcome.RISING, seconds=1.0)
    smooth = done(training, 5, [1.0, 5.0], seconds=3.0, fresh_steps=1280)
    found = kept_record(training, [smooth, rough])
    assert [each.seed for each in found.policies] == [3, 5]
    assert [each.converged for each in found.policies] == [False, True]
    assert [each.outcome for each in found.policies] == [
        Outcome.RISING.value,
        Outcome.CONVERGED.value,
    ]
    assert [each.file for each in found.policies] == [
        str(tmp_path / "mine" / f"seed-{seed}.onnx") for seed in (3, 5)
    ]
    assert found.converged is False
    assert (found.name, found.simulator, found.noise) == ("mine", "servo", "action=0.1")
    assert (found.randomize, found.told) == ("gain=0.5..1.5", "gain=0.5..1.5")
    assert (found.steps, found.horizon) == (1280, 10)
    assert found.steps_per_second == (640 + 1280) / 4.0
    assert found.final_return.estimate == 3.5
    assert not (found.specialist or found.informed or found.masked)
    assert found.settings["rows"] == 64 and found.settings["units"] == 8
    assert all(type(each) in (int, float) for each in found.settings.values())
    assert codes(found) == ["few-seeds", "not-converged"]
    assert (found.provenance.seed, found.provenance.model) == (3, "servo")
    assert read_record(tmp_path / "mine" / "train.json", Train) == found


def test_nothing_new_was_trained_has_no_speed(tmp_path: Path) -> None:
    training = recipe(tmp_path)
    for more in ({"fresh_steps": 0}, {"seconds": 0.0}):
        found = kept_record(training, [done(training, 0, [1.0, 2.0], **more)])
        assert found.steps_per_second is None
        assert found.converged is True


@pytest.mark.parametrize(
    ("rounds", "width"), [(200, 1), (201, 2), (401, 3), (450, 3), (3, 1)]
)
def test_a_curve_has_200_points_at_most_each_a_mean(
    rounds: int, width: int, tmp_path: Path
) -> None:
    training = recipe(tmp_path)
    returns = np.arange(rounds, dtype=float) ** 2
    returns[0] = np.nan  # an episode longer than a round
    (policy,) = kept_record(training, [done(training, 0, returns)]).policies
    begins = range(0 if width > 1 else 1, rounds, width)
    ends = [min(at + width, rounds) for at in begins]
    parts = [returns[at:end] for at, end in zip(begins, ends, strict=True)]
    means = [float(each[np.isfinite(each)].mean()) for each in parts]
    assert len(policy.curve) == len(parts) <= 200
    assert [each[0] for each in policy.curve] == [640 * end for end in ends]
    assert [each[1] for each in policy.curve] == pytest.approx(means)


@pytest.mark.parametrize(
    ("more", "specialist"),
    [
        ({"nominal": True}, True),
        ({"at": "gain=1.2"}, True),
        ({"informed": True}, False),
        ({"masked": True}, False),
    ],
)
def test_what_was_trained_is_written_down(
    more: dict[str, Any], specialist: bool, tmp_path: Path
) -> None:
    training = recipe(tmp_path, **more, warm=tmp_path / "first")
    found = kept_record(training, [done(training, 0, [1.0, 2.0])])
    assert found.specialist is specialist
    assert found.informed is ("informed" in more or "masked" in more)
    assert found.masked is ("masked" in more)
    assert found.told == "gain=0.5..1.5"
    assert "warm-start" in codes(found)
    parts = dict(training.identity)
    assert (parts["warm start"], parts["told"]) == ("first", "gain=0.5..1.5")
    assert parts["informed"] == str(found.informed)


def test_one_seed_has_the_interval_of_its_last_tenth(tmp_path: Path) -> None:
    training = recipe(tmp_path)
    returns = np.sin(np.arange(50.0))
    found = kept_record(training, [done(training, 0, returns, final_return=7.0)])
    last = returns[-5:]
    reach = student.ppf(0.975, 4) * last.std(ddof=1) / np.sqrt(5)
    assert found.final_return.estimate == 7.0
    assert found.final_return.ends == pytest.approx((7.0 - reach, 7.0 + reach))
    short = kept_record(training, [done(training, 0, returns[:9], final_return=7.0)])
    reach = student.ppf(0.975, 1) * returns[7:9].std(ddof=1) / np.sqrt(2)
    assert short.final_return.upper == pytest.approx(7.0 + reach)


def test_several_seeds_have_a_t_interval_over_themselves() -> None:
    returns, other = [1.0, 4.0, 7.0], np.array([100.0, 200.0])
    found = over_seeds(returns, other, "episodes", 0.9)
    error = 3.0 / np.sqrt(3.0)
    reach = student.ppf(0.95, 2) * error
    assert found.estimate == 4.0 and found.confidence == 0.9
    assert found.standard_error == pytest.approx(error)
    assert found.ends == pytest.approx((4.0 - reach, 4.0 + reach))
    one = over_seeds([4.0], np.array([np.nan, 3.0]), "episodes")
    assert one.ends == (4.0, 4.0) and one.standard_error == 0.0


def test_settings_are_numbers_above_zero() -> None:
    memory = parse_memory("none")

    def settings(**changes: Any) -> Any:
        return learner_settings(memory, 10, changes, informed=False, masked=False)

    assert settings(rate=0.5).rate == 0.5
    for wrong in ({"rate": 0.0}, {"rate": True}, {"rate": "1"}, {"speed": 1.0}):
        with pytest.raises(InvalidArgument) as caught:
            settings(**wrong)
        assert caught.value.code == "no-such-setting"


def test_too_few_steps_for_two_rounds_are_refused(tmp_path: Path) -> None:
    assert recipe(tmp_path, steps=1280).steps == 1280
    with pytest.raises(InvalidArgument) as caught:
        recipe(tmp_path, steps=1279)
    assert caught.value.code == "too-few-steps"
    assert recipe(tmp_path, steps=None).steps == 2_000_000
    assert list(seeds_from(3, 2)) == [3, 4]
    with pytest.raises(InvalidArgument):
        seeds_from(3, 0)


# options

ASKED: dict[str, Any] = {
    "randomize": "gain=0.5..1.5",
    "memory": "gru",
    "informed": False,
    "nominal": False,
    "at": None,
    "horizon": 12,
    "noise": "",
    "checked": True,
}


def test_options_of_a_training_reach_its_recipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home: Any = import_module("simgap.answers.train.train")
    names = set(signature(training_recipe).parameters)
    more: dict[str, Any] = {
        name: f"value of {name}"
        for name in names - {"simulator", "drawn", "warm", "memory", "randomize"}
    }
    met: dict[str, Any] = {}

    def noted(simulator: Any, **given: Any) -> str:
        met.update(simulator=simulator, **given)
        return "recipe"

    def finished(jobs: Any, *, workers: int, tell: Any) -> Any:
        tell("done")
        return [jobs, workers]

    told: list[str] = []
    monkeypatch.setattr(home, "training_recipe", noted)
    monkeypatch.setattr(home, "finished_trainings", finished)
    monkeypatch.setattr(home, "kept_record", lambda recipe, done: (recipe, done))
    found: Any = home.train(
        "servo",
        randomize="gain=1..2",
        memory="lstm",
        seeds=2,
        seed=4,
        workers=3,
        progress=told.append,
        **more,
    )
    assert met == {
        **more,
        "simulator": "servo",
        "randomize": "gain=1..2",
        "memory": "lstm",
    }
    assert found == ("recipe", [[("recipe", 4), ("recipe", 5)], 3])
    assert told == ["done"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "gru"),
        ({"memory": "window:8"}, "window-8"),
        ({"nominal": True}, "nominal-gru"),
        ({"informed": True}, "informed-gru"),
        ({"draws": sorted}, "gru-sorted"),
        ({"at": "gain=1.25"}, "specialist"),
    ],
)
def test_what_is_asked_for_is_checked_and_named(
    given: dict[str, Any], name: str
) -> None:
    usual = {**ASKED, "checked": False}
    asked = asked_training("servo", **{**usual, **given})
    named = asked.name()
    assert named.startswith("specialist-") if "at" in given else named == name
    assert asked.horizon == 12 and asked.told.to_string() == "gain=0.5..1.5"
    drawn = {"nominal": "nominal", "at": "gain=1.25"}
    key = next(iter(given), "")
    assert asked.drawn.to_string() == drawn.get(key, "gain=0.5..1.5")
    assert asked.nominal is (key == "nominal")
    assert asked.specialist is (key == "at")
    assert asked.draws == ("sorted" if key == "draws" else "")
    if key == "informed":
        assert asked.name(masked=True) == "masked-gru"
    if key == "at":
        other = asked_training("servo", **{**usual, "at": "gain=1.3"})
        assert other.name() != asked.name()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"nominal": True, "at": "gain=1"}, None),
        ({"at": "gain=1..1.2"}, "not-one-value"),
        ({"informed": True, "nominal": True}, "nothing-to-tell"),
        ({"informed": True, "at": "gain=1"}, "nothing-to-tell"),
        ({"draws": sorted, "nominal": True}, "nothing-to-draw"),
        ({"idle": ("gain",)}, "parameter-without-effect"),
        ({"idle": ("gain",), "checked": False}, ""),
        ({"idle": ("gain",), "nominal": True}, ""),
    ],
)
def test_what_cannot_be_trained_is_refused(
    given: dict[str, Any], code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parameter without effect is looked for unless nothing is drawn."""
    home: Any = import_module("simgap.answers.train.asked")
    idle = given.get("idle", ())
    monkeypatch.setattr(home, "without_effect", lambda *_: idle)
    more = {key: each for key, each in given.items() if key != "idle"}
    if code == "":
        assert asked_training("servo", **{**ASKED, **more}).horizon == 12
        return
    with pytest.raises(InvalidArgument) as caught:
        asked_training("servo", **{**ASKED, **more})
    assert code is None or caught.value.code == code
