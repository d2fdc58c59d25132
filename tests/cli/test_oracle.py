"""`simgap oracle`: keys of the record, original units, files, and early ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from simgap.cli.app.main import main
from tests.cli.test_contract import SIMGAP, answer, human

RIVERS = "riverswim?states=4&success=0.1:0.6:3&left_reward=0.4&uniform=true"


def bounded(pair: dict[str, float], value: float, slack: float = 1e-9) -> bool:
    return pair["lower"] - slack <= value <= pair["upper"] + slack


def test_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "oracle", RIVERS, "-H", "30")
    assert found["horizon"] == 30
    assert found["lower"] <= found["upper"]
    gap = found["average_gap"]
    assert 0.0 <= gap["lower"] <= gap["upper"]
    assert found["informed"] - gap["upper"] == pytest.approx(found["lower"], abs=1e-9)
    assert found["informed"] - gap["lower"] == pytest.approx(found["upper"], abs=1e-9)
    assert set(found["estimated_gap"]) >= {"estimate", "lower", "upper", "confidence"}
    reached = 0.0
    for each in found["models"]:
        assert each["gap"] == pytest.approx(each["optimal"] - each["value"], abs=1e-9)
        assert bounded(each["gap_interval"], each["gap"])
        reached += each["prior"] * each["value"]
    assert reached == pytest.approx(found["lower"], abs=1e-9)  # contract
    assert found["worst_gap"] == max(each["gap"] for each in found["models"])
    for name, each in found["baselines"].items():
        assert {"value", "models", "certainty", "note"} <= set(each)
        if each["worst_gap"] is None:
            assert each["note"], name
        elif "estimate" not in each["value"]:
            assert each["average_gap"]["upper"] >= gap["lower"] - 1e-9 or (
                name == "informed"
            )
    assert {"memoryless", "single-simulator"} <= set(found["baselines"])
    assert found["value_of_memory"]["lower"] >= 0.0
    assert found["provenance"]["seed"] == 0
    assert found["certainty"]["estimated_gap"] == "estimated"
    size = len(found["models"])
    assert np.array(found["pair_prices"]["lower"]).shape == (size, size)


@pytest.mark.parametrize("solver", ["auto", "bounded", "grid"])
def test_a_discount(solver: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--discount", "0.8", "--solver", solver, "--no-baselines")
    found = answer(capsys, "oracle", RIVERS, *options)
    assert found["horizon"] is None
    assert found["discount"] == 0.8
    assert found["upper"] <= found["informed"] + 1e-9


def test_solvers_agree(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        answer(capsys, "oracle", RIVERS, "-H", "12", "--solver", each, "--no-baselines")
        for each in ("exact", "bounded", "grid")
    ]
    least = max(each["lower"] for each in found)
    assert least <= min(each["upper"] for each in found) + 1e-9


def test_the_policies_are_saved_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rivers.simgap"
    found = answer(
        capsys, "oracle", RIVERS, "-H", "8", "--save", str(path), "--no-baselines"
    )
    assert found["policy_file"] == str(path)
    assert found["belief_policy_file"] == str(tmp_path / "rivers.belief.simgap")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "rivers.belief.simgap",
        "rivers.simgap",
    ]
    from simgap.policies.files import load_policy

    for each in tmp_path.iterdir():
        assert load_policy(each).horizon == 8


def test_people_read_what_is_lost_and_how_sure_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = human(capsys, "oracle", RIVERS, "-H", "20")
    for part in (
        "Will it transfer?",
        "(certified)",
        "(estimated, ",
        "value of memory",
        "value of randomization",
        "memoryless",
        "solver",
        "outcome",
        "s planning",
        "s compiling",
    ):
        assert part in text
    for width in text.splitlines():
        assert len(width) <= 400


def test_the_same_seed_gives_the_same_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = (
        answer(capsys, "oracle", RIVERS, "-H", "15", "--seed", "3", "--no-baselines")
        for _ in range(2)
    )
    for key in ("average_gap", "estimated_gap", "models", "pair_prices"):
        assert first[key] == second[key], key


def test_a_time_limit_leaves_a_valid_bracket(
    capsys: pytest.CaptureFixture[str],
) -> None:
    limit = ("--time-limit", "0.5", "--gap-tolerance", "1e-9", "--no-baselines")
    begin = time.monotonic()
    found = answer(capsys, "oracle", "garnet_mixture?members=5", "-H", "60", *limit)
    assert time.monotonic() - begin < 60.0  # compiling may come first
    assert found["outcome"] == "stopped at the time limit"
    assert 0.0 <= found["average_gap"]["lower"] <= found["average_gap"]["upper"]


@pytest.mark.slow
def test_control_c_prints_the_bracket_reached() -> None:
    command = [*SIMGAP, "oracle", "garnet_mixture", "-H", "200"]
    command += ["--gap-tolerance", "1e-9", "--time-limit", "300", "--json"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(  # noqa: PLW1509  # no threads here
            signal.SIGINT, signal.default_int_handler
        ),
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()  # the first word of progress: a bracket exists
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = json.loads(out)
    assert found["outcome"] == "interrupted"
    assert 0.0 <= found["average_gap"]["lower"] <= found["average_gap"]["upper"]
    assert "Traceback" not in err


def test_a_model_that_cannot_be_planned_by_a_solver_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["oracle", RIVERS, "--discount", "0.9", "--solver", "exact"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "horizon" in err
    assert "\nhint: " in err


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--help"]) == 0
    assert "Example: simgap oracle" in capsys.readouterr().out
