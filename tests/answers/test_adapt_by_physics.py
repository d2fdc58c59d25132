"""A class on a grid and a log of its simulator: known truths come back."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.answers import RewardEvidence
from simgap.cli.app.main import main
from simgap.errors import InvalidArgument
from simgap.instances import build_instance
from simgap.interop import TransitionLog
from simgap.records import Adapt, AdaptedSimulator
from tests.continuous.identification.real_pendulum import (
    RANGES,
    TRUTH,
    recorded,
    written,
)
from tests.continuous.toy import ToyPendulum
from tests.note_codes import codes

PHYSICS: Any = import_module("simgap.answers.adapt.by_physics")
CLASS = "discretise:Pendulum-v1?mass=0.7,0.9,1.1&length=1.1&cells=9&actions=3"
STATES = TransitionLog(*np.zeros((5, 1), np.int64))


def test_the_true_mass_is_found_and_planned_for() -> None:
    found = simgap.adapt(CLASS, 8, recorded(1))
    assert found.best == "mass=0.9" and not found.outside_class
    assert [round(each.probability or 0.0, 3) for each in found.posterior] == [0, 1, 0]
    assert [each.plausible for each in found.posterior] == [False, True, False]
    assert found.parameters[0].after is not None
    assert found.parameters[0].after.mean == pytest.approx(TRUTH["mass"], abs=1e-3)
    assert found.gap_bound_after is not None and found.adapted is not None
    assert found.gap_bound_after.upper <= 1e-9 < found.gap_bound_before.upper
    assert codes(found)[0] == "evidence-from-physics"
    assert "no-misfit-seen" in codes(found) and "delay-found" not in codes(found)
    assert found.certainty["posterior"] == found.certainty["p_value"] == "estimated"
    assert found.certainty["gap_bound_after"] != "estimated"
    assert found.transitions == 200 and found.episodes == 1


def test_hidden_friction_raises_the_alarm() -> None:
    """The control of the test above."""
    found = simgap.adapt(CLASS, 8, recorded(1, friction=0.1))
    assert found.outside_class and found.plausible_gap is None
    assert {"outside-class", "physics-misfit"} <= set(codes(found))


def test_a_delay_is_found_and_told_because_the_table_has_none() -> None:
    found = simgap.adapt(CLASS, 8, recorded(1, delay=2), delay=0)
    assert found.best == "mass=0.9" and not found.outside_class
    assert {"delay-found", "delay-differs"} <= set(codes(found))


def test_a_class_from_a_file_knows_its_equations(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.simgap"
    simgap.save_model(build_instance(CLASS), path)
    log = recorded(1, steps=60)
    again, found = simgap.adapt(path, 8, log), simgap.adapt(CLASS, 8, log)
    assert again.posterior == found.posterior


def test_one_function_for_classes_and_simulators() -> None:
    log = recorded(1, steps=60)
    of_class = simgap.adapt(CLASS, 8, log)
    of_simulator = simgap.adapt(ToyPendulum(), log=log, randomize=RANGES)
    assert isinstance(of_class, Adapt) and isinstance(of_simulator, AdaptedSimulator)


@pytest.mark.parametrize(
    ("model", "options", "word"),
    [
        (CLASS, {"horizon": 8}, "log"),
        (CLASS, {"log": recorded(1, steps=60)}, "horizon"),
        (CLASS, {"horizon": 8, "log": recorded(1), "out": "p.csv"}, "out"),
        (CLASS, {"horizon": 8, "log": recorded(1), "start_evidence": True}, "start"),
        (CLASS, {"horizon": 8, "log": recorded(1), "rewards": RewardEvidence.EXACT},
         "rewards"),
        (ToyPendulum(), {"log": recorded(1), "randomize": RANGES, "horizon": 8},
         "horizon"),
        (ToyPendulum(), {"log": recorded(1), "randomize": RANGES, "save": "p.simgap"},
         "save"),
        (ToyPendulum(), {"log": STATES, "randomize": RANGES}, "TransitionLog"),
    ],
)  # fmt: skip
def test_options_of_the_other_kind_are_refused(
    model: object, options: dict[str, object], word: str
) -> None:
    with pytest.raises(InvalidArgument) as told:
        simgap.adapt(model, **options)  # type: ignore[call-overload]
    assert word in str(told.value) and told.value.hint


def test_a_class_without_equations_says_what_to_do() -> None:
    with pytest.raises(InvalidArgument) as told:
        simgap.adapt("riverswim?success=0.3,0.8", 8, recorded(1))
    assert told.value.code == "no-equations" and "discretise" in told.value.hint


def test_a_grid_whose_simulator_is_not_to_be_had_has_no_equations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PHYSICS, "simulator_of", lambda _: None)
    with pytest.raises(InvalidArgument, match="Pendulum-v1 has no equations") as told:
        simgap.adapt(CLASS, 8, recorded(1))
    assert told.value.code == "no-equations"


def test_the_rate_of_a_log_of_states_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "real.csv"
    path.write_text("state,action,next_state\n0,1,0\n")
    with pytest.raises(InvalidArgument, match="rate"):
        simgap.adapt("riverswim?success=0.3,0.8", 8, path, rate=20.0)


def test_the_verb_takes_the_same_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(recorded(1), tmp_path / "real.csv")
    command = ["adapt", CLASS, "-H", "8", "--log", str(log), "--rate", "20"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"] == "mass=0.9" and "evidence-from-physics" in codes(found)
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "approximate" in out and "computed, not sampled" not in out
    wrong = written(recorded(1, friction=0.1), tmp_path / "wrong.csv")
    page = tmp_path / "run"
    assert main([*command[:5], str(wrong), "--out", str(page)]) == 1
    out = capsys.readouterr().out
    assert "about 1 %" in out and "at most 1 %" not in out
    assert main(["report", str(page)]) == 0
    assert "probability about 0.01" in (page / "report.html").read_text()
