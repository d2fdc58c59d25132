"""What a study of a simulator asks of others: stand-ins answer, and note the question.

Nothing is trained or measured: what is kept, told and handed on is what counts.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace as Stand
from typing import Any

import pytest

from simgap.answers.study.costs import Speeds
from simgap.continuous import parse_memory
from simgap.errors import InvalidArgument, InvalidFile, SimgapError
from simgap.records import StudyRun, Transfer, WidthRun, read_record
from tests.note_codes import codes
from tests.report.study_cases import graded, training
from tests.report.trained_cases import blamed, identified
from tests.report.transfer_cases import ORIGIN, about

HOME: Any = import_module("simgap.answers.study.simulator")
SPEEDS = Speeds(1.0, {"gru": 2e-5, "none": 1e-5}, 1e-6, 0.1)


class Recipe(Stand):
    """A training: a key, and no more."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def width_run() -> WidthRun:
    return WidthRun(
        simulator="cartpole",
        randomize="length=0.5..1.5",
        noise="",
        horizon=200,
        memory="gru",
        trainings=3,
        steps=1000,
        training_steps=3000,
        episodes=10,
        measured_steps=100,
        design="sobol:8",
        beyond=1.5,
        widths=(),
        random=about(0.0),
        at_stake=9.0,
        slack=0.05,
        spare=0.45,
        best=1.0,
        recommended=0.5,
        guess=0.5,
        outcome="recommended",
        reason="So.",
        confidence=0.95,
        notes=(),
        certainty={"widths": "estimated"},
        provenance=ORIGIN,
    )


class Asked:
    """Stand-ins for all that a study asks, and what they were asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.met: dict[str, dict[str, Any]] = {}
        self.recipes: list[dict[str, Any]] = []
        self.kinds: list[str] = []
        self.kept: list[str] = []
        self.names = ("length", "fixed", "mass")
        self.varying: tuple[int, ...] = (0, 2)
        self.rough, self.fresh = 0, True
        self.trained = 0
        self.folder = folder
        for name, answer in (
            ("transfer", graded()),
            ("blame_run", blamed()),
            ("identify_run", identified()),
            ("width_run", width_run()),
        ):
            monkeypatch.setattr(HOME, name, self.answering(name, answer))
        for name in ("asked_training", "measured_speeds", "training_recipe"):
            monkeypatch.setattr(HOME, name, getattr(self, name))
        for name in ("finished_trainings", "kept_record"):
            monkeypatch.setattr(HOME, name, getattr(self, name))

    def answering(self, name: str, answer: Any) -> Any:
        def asked(*given: Any, **more: Any) -> Any:
            self.met[name] = {"given": given, **more}
            more["progress"]("works")
            if name == "transfer":
                (self.folder / "returns.npz").touch()
            return answer

        return asked

    def asked_training(self, simulator: str, **more: Any) -> Any:
        self.met["asked"] = more
        told = Stand(
            spec="the spec",
            to_string=lambda: "length=0.5..1.5",
            names=self.names,
            varying=self.varying,
        )
        return Stand(
            simulator=Stand(name=simulator),
            told=told,
            horizon=20,
            memory=parse_memory("gru"),
        )

    def measured_speeds(self, kinds: Any, make: Any, **more: Any) -> Speeds:
        self.kinds = [each.memory for each in kinds]
        self.met["speeds"] = more
        make(kinds[0], self.folder / "tried", 6)
        return SPEEDS

    def training_recipe(self, simulator: str, **more: Any) -> Recipe:
        self.recipes.append(more)
        nominal, memory = more["nominal"], more["memory"].replace(":", "-")
        told = "masked-" if more["masked"] else "informed-" if more["informed"] else ""
        name = f"{'nominal-' if nominal else ''}{told}{memory}"
        return Recipe(folder=more["out"] / name, simulator=simulator)

    def finished_trainings(
        self, jobs: Any, *, workers: int, tell: Any, met: Any
    ) -> None:
        self.met["trained"] = {"workers": workers, "jobs": jobs}
        for recipe, seed in reversed(jobs):
            tell("trains")
            met(Stand(recipe=recipe, seed=seed), self.fresh)

    def kept_record(self, recipe: Any, done: Any) -> Any:
        self.kept.append(recipe.folder.name)
        self.trained += len(done)
        rough = self.rough if recipe.folder.name == "gru" else 0
        found = training(recipe.folder.name, seeds=len(done), rough=rough)
        recipe.folder.mkdir(parents=True, exist_ok=True)
        for one in found.policies:
            (recipe.folder / f"{one.seed}.onnx").write_text("weights")
        return replace(
            found,
            policies=tuple(
                replace(one, file=str(recipe.folder / f"{one.seed}.onnx"))
                for one in found.policies
            ),
        )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    return Asked(monkeypatch, tmp_path / "out")


def studied(asked: Asked, **more: Any) -> StudyRun:
    usual: dict[str, Any] = {
        "randomize": "length=0.5..1.5",
        "seeds": 2,
        "seed": 7,
        "workers": 3,
        "noise": "action=0.1",
        "command": "simgap study",
    }
    found: StudyRun = HOME.study_simulator(
        "cartpole", out=asked.folder, **{**usual, **more}
    )
    return found


def test_every_question_is_asked_with_what_was_planned(asked: Asked) -> None:
    found = studied(asked)
    met, folder = asked.met, asked.folder
    assert met["asked"] == {
        "randomize": "length=0.5..1.5",
        "memory": "gru",
        "informed": True,
        "nominal": False,
        "at": None,
        "horizon": None,
        "noise": "action=0.1",
        "checked": True,
    }
    assert asked.kinds == ["gru", "none", "window:8"]
    assert met["speeds"]["workers"] == 3
    common = {"seed": 7, "workers": 3}
    for name, more in (
        ("transfer", {"design": "sobol:64", "episodes": 32, "checked": False}),
        ("blame_run", {"design": "sobol:64", "episodes": 32}),
        ("identify_run", {"worlds": 512}),
        (
            "width_run",
            {
                "randomize": "the spec",
                "horizon": 20,
                "noise": "action=0.1",
                "seeds": 2,
                "steps": 1_000_000,
                "design": "sobol:64",
                "episodes": 32,
                "checked": False,
                "out": folder / "width",
            },
        ),
    ):
        given = {key: each for key, each in met[name].items() if key != "progress"}
        expected: dict[str, Any] = {**common, **more}
        if name == "identify_run":
            del expected["workers"]
        at = "cartpole" if name == "width_run" else folder
        assert given == {"given": (at,), **expected}
    names = [each.question for each in found.answers]
    assert names == ["memory", "information", "parameter", "time", "width"]
    assert set(found.records) == {"transfer", "blame", "identify", "width"}
    for name, path in found.records.items():
        file = "transfer" if name == "transfer" else f"{name}_run"
        assert path == str(folder / f"{file}.json") and Path(path).exists()
    kept = read_record(folder / "transfer.json", Transfer)
    assert kept.provenance.command == "simgap study"


def test_trainings_are_those_of_the_plan_and_kept_when_all_seeds_are_there(
    asked: Asked,
) -> None:
    found = studied(asked)
    kinds = ["gru", "nominal-gru", "masked-gru", "none", "informed-none"]
    assert list(found.kinds) == kinds and sorted(asked.kept) == sorted(kinds)
    assert asked.trained == 10
    jobs = asked.met["trained"]["jobs"]
    assert asked.met["trained"]["workers"] == 3
    assert [(recipe.folder.name, seed) for recipe, seed in jobs] == [
        (name, seed) for name in kinds for seed in (7, 8)
    ]
    tried, *recipes = asked.recipes
    assert tried["steps"] > 0 and tried["out"].name == "tried"
    for each in recipes:
        assert each["steps"] == found.steps == 2_000_000
        assert (each["randomize"], each["horizon"]) == ("the spec", 20)
        assert (each["noise"], each["checked"]) == ("action=0.1", False)
        assert each["out"] == asked.folder
    assert (found.seeds, found.horizon, found.simulator) == (2, 20, "cartpole")
    assert found.parameters == ("length", "mass")
    assert found.provenance.seed == 7 and found.provenance.command == "simgap study"
    again = read_record(asked.folder / "study_run.json", StudyRun)
    assert again == found and found.report is None
    assert 0.0 < found.total_seconds < 60.0 < found.planned_seconds


def test_a_second_study_asks_nothing_again(asked: Asked) -> None:
    first = studied(asked)
    asked.met.clear()
    second = studied(asked, draw=lambda *given: None)
    assert second.answers == first.answers
    assert set(asked.met) == {"asked", "trained"}
    assert second.report == str(asked.folder / "report.html")
    (asked.folder / "returns.npz").unlink()  # episodes are drawn on the page
    studied(asked)
    assert set(asked.met) == {"asked", "trained", "transfer"}
    asked.met.clear()
    studied(asked, fresh=True)
    assert {"speeds", "blame_run", "width_run"} <= set(asked.met)


def test_one_parameter_has_all_the_blame(asked: Asked) -> None:
    asked.varying = (2,)
    found = studied(asked)
    assert "blame_run" not in asked.met and "masked-gru" not in found.kinds
    (blame,) = [each for each in found.answers if each.question == "parameter"]
    assert (blame.answer, blame.code) == ("mass", "one-parameter")
    assert found.parameters == ("mass",)


def test_a_short_budget_leaves_width_and_window_out(asked: Asked) -> None:
    found = studied(asked, time_budget=80.0, seeds=None)
    assert asked.kinds == ["gru", "none"] and found.time_budget == 80.0
    assert "width_run" not in asked.met and found.seeds == 3
    assert {"few-seeds", "no-time-for-width"} <= set(codes(found))
    asked.folder = asked.folder.parent / "other"
    studied(asked, time_budget=600.0)
    assert asked.kinds == ["gru", "none", "window:8"]


def test_trainings_that_had_not_converged_are_told(asked: Asked) -> None:
    asked.rough = 1
    found = studied(asked)
    assert codes(found).count("not-converged") == 1
    assert found.answers[0].not_converged == ("gru (1 of 2)",)
    asked.rough = 0
    assert "not-converged" not in codes(studied(asked, fresh=True))


@pytest.mark.parametrize("kind", [SimgapError, InvalidFile])
def test_a_question_that_fails_is_left_out_but_for_a_file_that_is_wrong(
    kind: Any, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise kind("it cannot be told", hint="x", code="not-told")

    monkeypatch.setattr(HOME, "blame_run", fails)
    if kind is InvalidFile:
        with pytest.raises(InvalidFile):
            studied(asked)
        return
    found = studied(asked)
    assert "not-answered" in codes(found) and "blame" not in found.records
    questions = [each.question for each in found.answers]
    assert "parameter" not in questions and questions[-2:] == ["time", "width"]


def test_what_a_study_is_about_is_known_by_all_its_parts(asked: Asked) -> None:
    studied(asked)
    for change in (
        {"seeds": 3},
        {"seed": 8},
        {"time_budget": 900.0},
        {"noise": "action=0.2"},
    ):
        with pytest.raises(InvalidFile) as caught:
            studied(asked, **change)
        assert caught.value.code == "another-study"
    asked.folder = asked.folder.parent / "other"
    told: list[str] = []
    drawn: list[Any] = []
    studied(asked, announce=told.append, draw=lambda *given: drawn.append(given))
    assert len(told) == 1 and "10 trainings" in told[0]
    assert drawn == [(asked.folder, asked.folder / "report.html")]
    with pytest.raises(InvalidArgument):
        HOME.study_simulator(object(), randomize="a=1..2")


def test_news_of_a_part_say_how_much_is_left(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training passes its share of the time: by memory, over all seeds."""
    shares: list[tuple[float, bool]] = []
    right = HOME.Clock.passed

    def noted(self: Any, share: float, *, fresh: bool) -> None:
        shares.append((share, fresh))
        right(self, share, fresh=fresh)

    monkeypatch.setattr(HOME.Clock, "passed", noted)
    said: list[str] = []
    studied(asked, progress=said.append)
    assert sum(share for share, _ in shares) == pytest.approx(1.0)
    slow, quick = 2e-5, 1e-5
    whole = 2 * (3 * slow + 2 * quick)
    expected = [quick / whole] * 4 + [slow / whole] * 6
    assert [share for share, _ in shares] == pytest.approx(expected)
    assert all(fresh for _, fresh in shares)
    parts = [word.partition(":")[0] for word in said]
    assert list(dict.fromkeys(parts)) == [
        "training",
        "transfer",
        "blame",
        "identify",
        "width",
        "page",
    ]
