"""What a study says of the time it takes: by a clock that the test sets."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace as Stand
from typing import Any

import pytest

from simgap.answers.study.clock import Clock
from simgap.answers.study.kinds import MEMORY, MEMORYLESS, WINDOW
from simgap.answers.study.speeds import measured_speeds, step_seconds

CLOCK: Any = import_module("simgap.answers.study.clock")
SPEEDS: Any = import_module("simgap.answers.study.speeds")


class Recipe(Stand):
    """A training: a key, and no more."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class Watch:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    found = Watch()
    monkeypatch.setattr(CLOCK, "monotonic", found)
    monkeypatch.setattr(SPEEDS, "monotonic", found)
    return found


def seconds_left(monkeypatch: pytest.MonkeyPatch, watch: Watch) -> Any:
    """Return a clock of a plan with three parts, and the seconds that it tells."""
    told: list[float] = []
    monkeypatch.setattr(CLOCK, "duration", told.append)
    plan: Any = Stand(seconds={"training": 100.0, "transfer": 30.0, "page": 8.0})
    return Clock(plan, lambda word: None), told


def test_what_is_left_is_the_rest_of_the_part_and_all_later_ones(
    monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    clock, told = seconds_left(monkeypatch, watch)
    tell = clock.part("training")
    watch.now += 50.0  # nothing has begun: time runs from the first word on
    tell("begins")
    watch.now += 40.0
    tell("goes on")
    watch.now += 80.0
    tell("is late")
    assert told == [138.0, 98.0, 38.0]


def test_a_part_that_is_slow_takes_as_long_for_the_rest(
    monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    clock, told = seconds_left(monkeypatch, watch)
    tell = clock.part("training")
    tell("begins")
    watch.now += 80.0
    clock.passed(0.25, fresh=True)
    tell("a quarter in 80 seconds")
    clock.passed(0.5, fresh=True)
    tell("three quarters")
    tell = clock.part("transfer")  # shares are those of one part
    tell("begins")
    assert told == [138.0, 240.0 + 38.0, 80.0 / 3.0 + 38.0, 38.0]


def test_what_was_there_before_takes_no_time(
    monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    clock, told = seconds_left(monkeypatch, watch)
    tell = clock.part("training")
    clock.passed(0.5, fresh=False)
    tell("half is kept")
    watch.now += 30.0
    clock.passed(0.125, fresh=True)
    tell("an eighth in 30 seconds")
    tell = clock.part("transfer")
    tell("begins")
    assert told == [50.0 + 38.0, 30.0 * 3.0 + 38.0, 38.0]


def measured(
    monkeypatch: pytest.MonkeyPatch, watch: Watch, workers: int, step: float = 1e-3
) -> tuple[Any, dict[str, Any]]:
    """Measure a machine that trains and measures at speeds that are known.

    A wave of trainings takes 5 seconds to begin and 2 more for its slowest kind; a call
    of `transfer` takes 4 seconds the first time, then half a second, and its steps.
    """
    met: dict[str, Any] = {"records": [], "episodes": []}
    kinds = [MEMORY, MEMORYLESS, WINDOW]

    def make(kind: Any, folder: Path, rounds: int) -> Any:
        met["rounds"], met["folder"] = rounds, folder
        return Recipe(kind=kind, settings=Stand(horizon=10))

    def train_all(jobs: Any, *, workers: int, tell: Any) -> Any:
        waves = -(-len(jobs) // workers)
        watch.now += 7.0 * waves
        met["workers"] = workers
        tell("nothing")
        for recipe, seed in jobs:
            assert seed == 0
            slow = {"gru": 2.0, "none": 0.5, "window:8": 1.0}[recipe.kind.memory]
            yield Stand(recipe=recipe, seconds=slow, fresh_steps=slow / step)

    done = [0]

    def transfer(run: Any, *, design: str, episodes: int, **more: Any) -> None:
        assert (Path(run), design) == (met["folder"], "sobol:8")
        assert more == {"beyond": 1.0, "checked": False}
        fresh = (episodes - done[0]) * 3 * 8 * 10
        watch.now += (0.5 if done[0] else 4.0) + fresh * step
        done[0] = episodes
        met["episodes"].append(episodes)

    monkeypatch.setattr(SPEEDS, "train_all", train_all)
    monkeypatch.setattr(SPEEDS, "transfer", transfer)
    monkeypatch.setattr(
        SPEEDS, "kept_record", lambda recipe, done: met["records"].append(done)
    )
    found = measured_speeds(kinds, make, workers=workers, progress=lambda word: None)
    return found, met


@pytest.mark.parametrize(
    ("workers", "first"), [(1, 4.24), (2, 8.24), (3, 8.24), (4, 8.24)]
)
def test_a_machine_is_as_fast_as_it_was_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, watch: Watch, workers: int, first: float
) -> None:
    """Other processes take four seconds more until they measure."""
    found, met = measured(monkeypatch, watch, workers)
    assert found.begin == pytest.approx(5.0)
    assert found.step == pytest.approx({"gru": 1e-3, "none": 1e-3, "window:8": 1e-3})
    assert found.measured_step == pytest.approx(1e-3)
    assert found.first_episode == pytest.approx(first)
    assert met["rounds"] == 6 and met["workers"] == workers
    assert met["episodes"] == [1, 2, 8]  # two seconds, at the speed of training
    assert [each[0].recipe.kind for each in met["records"]] == [
        MEMORY,
        MEMORYLESS,
        WINDOW,
    ]
    assert not met["folder"].exists()


@pytest.mark.parametrize(("step", "most"), [(1e-5, 64), (1.0, 4)])
def test_few_episodes_are_measured_and_never_more_than_many(
    monkeypatch: pytest.MonkeyPatch, watch: Watch, step: float, most: int
) -> None:
    found, met = measured(monkeypatch, watch, 1, step)
    assert met["episodes"] == [1, 2, most]
    assert found.measured_step == pytest.approx(step)


def test_a_step_takes_a_tenth_of_its_share_of_the_clock_at_least() -> None:
    """The last two calls took as long as each other, which no steps can."""
    assert step_seconds([6.5, 0.5, 0.5], (1000, 1000, 2000)) == 0.1 * 0.5 / 2000
    assert step_seconds([0.0, 1.0, 3.0], (9, 10, 30)) == pytest.approx(0.1)
