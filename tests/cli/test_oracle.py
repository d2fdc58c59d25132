"""`simgap oracle`: solvers agree, policies are saved, early ends leave a bracket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.test_contract import SIMGAP, answer

RIVERS = "riverswim?states=4&success=0.1:0.6:3&left_reward=0.4&uniform=true"


def bounded(pair: dict[str, float], value: float, slack: float = 1e-9) -> bool:
    return pair["lower"] - slack <= value <= pair["upper"] + slack


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
