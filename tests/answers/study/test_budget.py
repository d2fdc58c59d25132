"""A study with real trainings keeps its budget: for a machine that is quiet."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.answers.study.test_simulator import plan_as_in

BUDGET = 150.0  # seconds
STUDY = (
    *("study", "heading", "--randomize", "mounting_angle=-3.14..3.14", "-H", "20"),
    *("--seeds", "1", "--time-budget", f"{BUDGET:g}", "--json"),
)


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "simgap.cli.app.main", *STUDY, "--out", str(folder)]


def numbers(out: bytes) -> Any:
    found = json.loads(out)
    return [found[key] for key in ("answers", "steps", "seeds", "notes", "verdict")]


@pytest.mark.slow
def test_a_budget_is_kept_and_an_interrupted_study_gives_the_same(
    tmp_path: Path,
) -> None:
    begin = time.monotonic()
    whole = subprocess.run(command(tmp_path / "whole"), check=True, capture_output=True)
    assert time.monotonic() - begin <= 1.1 * BUDGET + 15.0
    parts = tmp_path / "parts"
    parts.mkdir()
    plan_as_in(tmp_path / "whole", parts)  # another clock plans other steps
    running = subprocess.Popen(command(parts), stdout=subprocess.PIPE)
    time.sleep(30.0)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) == 130
    rest = subprocess.run(command(parts), check=True, capture_output=True)
    assert numbers(rest.stdout) == numbers(whole.stdout)
