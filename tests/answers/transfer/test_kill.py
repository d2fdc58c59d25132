"""A measurement that is killed or interrupted goes on where it was: the same bytes."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import numpy as np
import pytest

from simgap.cli.app import output
from simgap.cli.app.main import main

pytest.importorskip("gymnasium")

SIMGAP = Path(__file__).with_name("dying.py")
FOLDER = "the-run"
COMMAND: Final = (
    "transfer gym:CartPole-v1 --randomize length=0.3..1.0 --policy random "
    f"--reference zero -H 25 --design sobol:24 --episodes 64 --out {FOLDER}"
).split()
JOBS = 2 * 4  # policies, rounds of 16 episodes; the points fit in one job
NEVER = 10**9
GONE = 30.0  # seconds for workers to notice that their driver is dead
SECONDS = 0.15  # about a job: the longest delay of a kill


@final
@dataclass(frozen=True, slots=True)
class Run:
    """How a run of simgap ended, and what it wrote to standard error."""

    status: int
    said: str

    @property
    def lines(self) -> list[str]:
        """Return what was said, without empty lines."""
        return [line for line in self.said.splitlines() if line.strip()]

    @property
    def moments(self) -> int:
        """Return how many moments there were in a run to its end."""
        return int(self.lines[-1].split()[0])


def run(
    place: Path,
    *,
    moment: int = NEVER,
    delay: float = 0.0,
    name: str = "SIGKILL",
    workers: int = 1,
) -> Run:
    """Run simgap in a session of its own, and see that no process of it is left."""
    place.mkdir(exist_ok=True)
    told = [FOLDER, str(moment), str(delay), name, *COMMAND, "--threads", str(workers)]
    process = subprocess.Popen(
        [sys.executable, str(SIMGAP), *told],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said = process.communicate(timeout=300)[1]
        deadline = time.monotonic() + GONE
        while left := in_session(process.pid):
            assert time.monotonic() < deadline, f"processes {left} are left"
            time.sleep(0.05)
    except BaseException:
        for each in in_session(process.pid):
            os.kill(each, signal.SIGKILL)
        raise
    return Run(process.returncode, said)


def in_session(leader: int) -> list[int]:
    """Return the processes of a session that run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(session) == leader and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def results(place: Path) -> dict[str, bytes]:
    """Return the files of a finished measurement."""
    files = ("transfer.json", "returns.npz")
    return {name: (place / FOLDER / name).read_bytes() for name in files}


def whole(place: Path, workers: int) -> tuple[int, dict[str, bytes]]:
    """Return the moments and the files of a run that nobody stops."""
    ran = run(place, workers=workers)
    assert ran.status == 0
    return ran.moments, results(place)


def finished_jobs(place: Path, scratch: Path) -> int | None:
    """Return how many jobs a ledger has, read from a copy; None: there is none yet."""
    shutil.rmtree(scratch, ignore_errors=True)
    if not (place / FOLDER / "ledger.sqlite").exists():
        return None
    shutil.copytree(place / FOLDER, scratch)
    with closing(sqlite3.connect(scratch / "ledger.sqlite")) as connection:
        try:
            return int(connection.execute("SELECT COUNT(*) FROM jobs").fetchone()[0])
        except sqlite3.OperationalError:  # killed before there was a table
            return None


def killed(
    home: Path, *, workers: int, kills: int, each: int, seed: int
) -> Counter[str]:
    """Kill runs, `each` times in a folder, resume them, and count what was hit.

    The files of every folder in the end are those of a run that nobody stopped.
    """
    moments, expected = whole(home / "whole", workers)
    rng = np.random.default_rng(seed)
    hits: Counter[str] = Counter()
    while (count := hits.total()) < kills:
        place = home / f"from-{count}"
        for _ in range(min(each, kills - count)):
            before = finished_jobs(place, home / "copy")
            ran = run(
                place,
                moment=int(rng.integers(1, moments + 1)),
                delay=float(rng.choice([0.0, rng.uniform(0.0, SECONDS)])),
                workers=workers,
            )
            after = finished_jobs(place, home / "copy")
            assert ran.status in (-signal.SIGKILL, 0)
            assert (after or 0) >= (before or 0)  # what was finished stays
            if ran.status == 0:
                hits["none: it had ended"] += 1
            elif after is None:
                hits["before the ledger"] += 1
            elif after < JOBS:
                hits["measuring"] += 1
            else:
                hits["intervals, returns and record"] += 1
        ran = run(place, workers=workers)
        assert ran.status == 0
        assert results(place) == expected
    return hits


@pytest.mark.parametrize(("workers", "seed"), [(1, 0), (2, 1)])
def test_a_run_that_is_killed_ends_with_the_same_bytes(
    tmp_path: Path, workers: int, seed: int
) -> None:
    hits = killed(tmp_path, workers=workers, kills=3 - workers, each=2, seed=seed)
    assert hits["measuring"]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_fifty_kills_change_no_byte(tmp_path: Path, workers: int) -> None:
    hits = killed(tmp_path, workers=workers, kills=50, each=5, seed=10 + workers)
    print(f"{workers} workers: {dict(hits)}")
    assert hits["measuring"] >= 20


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_says_so_in_a_line_and_can_be_resumed(
    tmp_path: Path, workers: int
) -> None:
    """Workers are interrupted as well: at once with the first, while they start."""
    _, expected = whole(tmp_path / "whole", workers)
    place = tmp_path / "stopped"
    moment = 16  # about the first job
    ran = run(place, moment=moment, delay=0.05, name="SIGINT", workers=workers)
    assert ran.status == 130
    assert ran.lines[0] == "stopped: interrupted"
    assert len(ran.lines) == 2  # the second one is of `dying.py`
    assert (finished_jobs(place, tmp_path / "copy") or 0) < JOBS
    assert not (place / FOLDER / "transfer.json").exists()
    assert run(place, workers=workers).status == 0
    assert results(place) == expected


def test_a_log_is_told_how_far_it_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines at growing distances: how many episodes, what is left, the worst point."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output, "QUIET_SECONDS", 0.01)
    assert main([*COMMAND, "--threads", "1"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "left" in line]
    assert 1 <= len(lines) < JOBS
    assert all("s left; worst so far" in line and "length=" in line for line in lines)
    done = [int(line.split()[0]) for line in lines]
    assert done == sorted(done)
