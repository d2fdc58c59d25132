"""A training that is killed goes on to the same weights, to the last bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from simgap.continuous.training.checkpoint import BEFORE, ENDING
from simgap.errors import InvalidFile
from tests.continuous.training.killed import ROUNDS

STAGES = ("begin", "half", "between", "end")
KILLED = -signal.SIGKILL


def trained(
    folder: Path,
    simulator: str,
    memory: str,
    moment: str = "never",
    threads: int = 1,
) -> subprocess.CompletedProcess[str]:
    """Run a small training, which may kill itself."""
    asked = [str(folder), simulator, memory, moment]
    return subprocess.run(
        [sys.executable, "-m", "tests.continuous.training.killed", *asked],
        env={**os.environ, "NPROC": str(threads)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def checkpoint(folder: Path) -> Path:
    (found,) = folder.glob(f"*/seed-0{ENDING}")
    return found


def same_after(
    tmp_path: Path, simulator: str, memory: str, moments: Sequence[str]
) -> None:
    """Compare a training that is killed at all moments with one that never is."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run = partial(trained, simulator=simulator, memory=memory)
    assert run(whole).returncode == 0
    for moment in moments:
        assert run(parts, moment=moment).returncode == KILLED, moment
    last = run(parts)
    assert last.returncode == 0, last.stderr
    assert checkpoint(parts).read_bytes() == checkpoint(whole).read_bytes()
    onnx = [next(each.glob("*/seed-0.onnx")).read_bytes() for each in (whole, parts)]
    assert onnx[0] == onnx[1]


def test_a_killed_training_ends_with_the_same_bytes(tmp_path: Path) -> None:
    same_after(tmp_path, "servo", "none", ["write:2:between"])


@pytest.mark.slow
def test_a_damaged_checkpoint_is_refused_or_replaced_by_the_one_before(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "parts"
    assert trained(folder, "servo", "none", "round:3").returncode == KILLED
    other = trained(folder, "servo", "none", threads=2)
    assert other.returncode == 1
    path = checkpoint(folder)
    whole, damaged = path.read_bytes(), bytearray(path.read_bytes())
    damaged[-5] ^= 1
    path.write_bytes(damaged)
    path.with_suffix(BEFORE).write_bytes(damaged)
    lost = trained(folder, "servo", "none")
    assert lost.returncode == 1
    assert InvalidFile.__name__ in lost.stderr
    path.with_suffix(BEFORE).write_bytes(whole)  # the newest alone is damaged
    again = trained(folder, "servo", "none")
    assert again.returncode == 0, again.stderr


@pytest.mark.slow
@pytest.mark.parametrize("simulator", ["servo", "puck"])
@pytest.mark.parametrize("memory", ["gru", "lstm"])
def test_thirty_kills_end_with_the_same_bytes(
    tmp_path: Path, simulator: str, memory: str
) -> None:
    """Eight kills each of four trainings, half of them inside a write."""
    rng = np.random.default_rng([ord(each) for each in simulator + memory])
    writes = [f"write:1:{stage}" for stage in STAGES]
    rounds = sorted(rng.choice(np.arange(2, ROUNDS), 4, replace=False).tolist())
    # a write always makes a step forward but for `begin` and `half`
    moments = [f"round:{at}" for at in rounds]
    same_after(tmp_path, simulator, memory, [*writes[:2], moments[0], *writes[2:3]])
    same_after(tmp_path / "again", simulator, memory, [*moments[1:], writes[3]])
