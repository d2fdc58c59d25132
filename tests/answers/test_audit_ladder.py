"""Ladders of grids by a clock of our own, the record of the oracle, and horizons.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.audit import refine
from simgap.answers.oracle import _baseline, _left_out, _models
from simgap.errors import InvalidModel, OutOfTime
from simgap.intervals import Certified, Estimate
from tests.answers.audit_cases import coins

losing: Any = import_module("simgap.answers.audit.losses")
growing: Any = import_module("simgap.answers.over_horizons")


def climb(
    monkeypatch: pytest.MonkeyPatch, seconds: list[float], **more: Any
) -> tuple[str, list[float], int]:
    """Return how a ladder ended, the limits of its plans and how many it has.

    `seconds` is what the clock says, one after the other.
    """
    limits: list[float] = []
    clock = iter(seconds)
    ready = Stand(verdict_code=None, verdict="yes")

    def audited(given: Any, horizon: int, settings: Any, **_: Any) -> Any:
        limits.append(settings.time_limit)
        if len(limits) > more.get("in_time", 99):
            raise OutOfTime("late", hint="")
        return ready, "yes"

    def made(table: Any, grid: Any) -> Any:
        if more.get("broken"):
            raise InvalidModel("no")
        return Stand(grid=grid, simulators=table.simulators)

    told: list[Any] = []

    def moving(found: Any, rungs: Any, end: Any) -> Any:
        told.append(end)
        return found

    fakes: dict[str, Any] = {
        "working_seconds": lambda: next(clock),
        "_at_hand": lambda latent: Stand(grid=Stand(size=10), simulators=latent),
        "audited_table": audited,
        "_rung": lambda *_: Stand(cells=(3, 4)),
        "_stands_still": lambda *_: len(limits) >= more.get("still", 99),
        "finer": lambda grid: Stand(size=2 * grid.size),
        "_too_large": lambda *_, **__: len(limits) >= more.get("large", 99),
        "remade": made,
        "LatentMDP": lambda worlds, prior: Stand(prior=prior, simulators=worlds),
        "_still_moving": moving,
        "next_commands": lambda *_, **__: (),
        "replace": lambda given, **changes: Stand(**{**vars(given), **changes}),
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(refine, name, fake)
    monkeypatch.setattr(refine, "Ladder", lambda *given: Stand(end=given[0]))
    settings: Any = Stand(time_limit=10.0, thorough=False)
    given: Any = Stand(latent=Stand(prior=0))
    found: Any = refine.climbed(given, 5, settings)
    assert bool(told) == (found.ladder.end != refine.LadderEnd.STANDS_STILL.value)
    return found.ladder.end, limits, len(limits)


def test_a_ladder_ends_where_it_stands_still_or_at_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end = refine.LadderEnd
    idle = [0.0] * 40
    assert climb(monkeypatch, idle, still=3)[::2] == (end.STANDS_STILL.value, 3)
    assert climb(monkeypatch, idle)[::2] == (end.OUT_OF_RUNGS.value, 6)
    assert climb(monkeypatch, idle, large=2)[::2] == (end.OUT_OF_SIZE.value, 2)
    assert climb(monkeypatch, idle, broken=True)[::2] == (end.NOT_MADE.value, 1)
    assert climb(monkeypatch, idle, in_time=2)[::2] == (end.OUT_OF_TIME.value, 3)
    with pytest.raises(OutOfTime):
        climb(monkeypatch, idle, in_time=0)


def test_a_ladder_plans_ahead_for_a_rung_of_twice_the_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Six times 10 seconds for all; the next rung takes twice as long as the last."""
    late = refine.LadderEnd.OUT_OF_TIME.value
    # begins at 0; the first takes 59 and says nothing of the next, which has a second
    found = climb(monkeypatch, [0.0, 0.0, 59.0, 59.0, 60.5])
    assert found == (late, [10.0, 1.0], 2)
    # the second takes from 30 to 40: 40 and twice 10 are 60, the third may begin
    found = climb(monkeypatch, [0.0, 0.0, 30.0, 30.0, 40.0, 40.0, 60.5])
    assert found == (late, [10.0, 10.0, 10.0], 3)
    found = climb(monkeypatch, [0.0, 0.0, 30.0, 30.0, 40.1])
    assert found == (late, [10.0, 10.0], 2)
    found = climb(monkeypatch, [0.0, 0.0, 53.0, 53.0, 60.5])
    assert found[1] == [10.0, 7.0]


# the record of the oracle, and horizons


def test_gaps_of_models_are_parts_of_what_is_best() -> None:
    result: Any = Stand(
        optimal=np.array([-4.0, 0.0]),
        gaps=np.array([1.0, 0.5]),
        values=np.array([-5.0, -0.5]),
        gap_intervals=np.array([[0.75, 1.25], [0.25, 0.5]]),
    )
    first, second = _models(coins(0.2, 0.9, prior=(0.25, 0.75)), result)
    assert (first.optimal, first.value, first.gap) == (-4.0, -5.0, 1.0)
    assert (first.relative_gap, second.relative_gap) == (0.25, None)
    assert (first.prior, first.gap_interval) == (0.25, Certified(0.75, 1.25))


def test_an_estimated_baseline_loses_no_less_than_the_oracle() -> None:
    latent = coins(0.2, 0.9)
    each = Estimate(0.5, 0.25, 1.0, 0.95)
    found: Any = Stand(
        value=Estimate(6.0, 5.0, 7.0, 0.95),
        average_gap=Estimate(2.0, 1.0, 3.0, 0.95),
        values=(each, each),
        gaps=(each, each),
        cross_gaps=None,
        worst_gap=0.5,
        about="",
        certainty="estimated",
        bound=None,
        note="",
    )
    told = _baseline(latent, found, 1.5)
    assert told.average_gap.ends == (1.5, 3.0)
    assert told.value.ends == (5.0, 6.5)  # 8 less the gap
    assert (told.worst_gap, len(told.models), told.cross_gaps) == (0.5, 2, None)
    assert told.models[0].gap == each
    found.gaps = ()
    missing = _baseline(latent, found, 1.5)
    assert (missing.worst_gap, missing.models) == (None, ())


@pytest.mark.parametrize(("models", "shown"), [(200, True), (201, False)])
def test_plans_of_many_models_are_not_shown_in_each_other(
    models: int, shown: bool
) -> None:
    latent: Any = Stand(simulators=Stand(model_names=("m",) * models))
    found: Any = Stand(
        value=Certified(0.0, 1.0),
        average_gap=Certified(0.0, 1.0),
        values=np.zeros(models),
        gaps=np.zeros(models),
        cross_gaps=np.array([[1.0, 2.0]]),
        worst_gap=0.0,
        about="",
        certainty="certified",
        bound=None,
        note="noted",
    )
    told = _baseline(latent, found, 0.0)
    assert told.cross_gaps == (((1.0, 2.0),) if shown else None)
    assert told.note.startswith("noted") and (told.note == "noted") == shown


def test_what_was_left_out_is_named_with_each_limit_once() -> None:
    note = _left_out(["minimax", "window-1"], ["time", "time", "memory"])
    assert note.code == "baselines-left-out"
    assert "minimax, window-1" in note.text and "time or memory came" in note.text
    assert "all simpler policies" in _left_out((), ["time"]).text


@pytest.mark.parametrize(
    ("models", "limit", "expected"),
    [
        (60, 8.0, 8.0),
        (61, 8.0, 2.0),  # shared by four horizons
        (61, 2.0, 1.0),
        (61, None, None),
    ],
)
def test_horizons_share_the_time_if_models_are_many(
    models: int, limit: float | None, expected: float | None, monkeypatch: Any
) -> None:
    asked: list[Any] = []

    def at(latent: Any, horizon: int, trained: Any, solver: Any, *_: Any) -> int:
        asked.append((horizon, solver.time_limit, len(trained)))
        return horizon

    monkeypatch.setattr(growing, "_at", at)
    latent = coins(*np.linspace(0.1, 0.9, models).tolist())
    solver = growing.AutoOracle(time_limit=limit)
    found = growing.over_horizons(latent, (4, 2, 8, 1, 2), solver=solver)
    assert found == (1, 2, 4, 8)
    assert asked == [(horizon, expected, 60) for horizon in found]
