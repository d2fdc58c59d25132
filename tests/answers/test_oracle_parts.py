"""The record of the oracle, and horizons.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.oracle import _baseline, _left_out, _models
from simgap.intervals import Certified, Estimate
from tests.answers.audit_cases import coins

growing: Any = import_module("simgap.answers.over_horizons")


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
