"""A measurement that is killed or interrupted goes on where it was: the same bytes."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pytest

from tests.sessions import HANGS, all_gone, killed_if_it_fails

pytest.importorskip("gymnasium")

SIMGAP = Path(__file__).with_name("dying.py")
FOLDER = "the-run"
COMMAND: Final = (
    "transfer gym:CartPole-v1 --randomize length=0.3..1.0 --policy random "
    f"--reference zero -H 25 --design sobol:24 --episodes 64 --out {FOLDER}"
).split()
JOBS = 2 * 64 * 2  # policies, episodes, parts of the points
EACH = 3  # moments of a job that is kept: BEGIN, INSERT, COMMIT
ENDED = "nothing: it had ended"


class Stop(NamedTuple):
    """When a run is stopped, and how; see `dying.py`."""

    what: str
    number: int
    name: str = "SIGKILL"
    together: float = 0.0


NEVER = Stop("", 0)


class Run(NamedTuple):
    """How a run of simgap ended, and what it wrote to standard error."""

    status: int
    lines: list[str]  # without empty ones

    @property
    def moments(self) -> int:
        """Return how many there were; `dying.py` says so in the end."""
        return int(self.lines[-1].split()[0])


def run(place: Path, stop: Stop = NEVER, workers: int = 1) -> Run:
    """Run simgap in a session of its own, and see that no process of it is left."""
    place.mkdir(exist_ok=True)
    told = [FOLDER, *map(str, stop), *COMMAND, "--threads", str(workers)]
    process = subprocess.Popen(
        [sys.executable, str(SIMGAP), *told],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with killed_if_it_fails(process.pid):
        said = process.communicate(timeout=HANGS)[1]
        all_gone(process.pid)
    lines = [line for line in said.splitlines() if line.strip()]
    return Run(process.returncode, lines)


class Whole(NamedTuple):
    """A run that nobody stops: how many moments it has, and what it leaves."""

    place: Path
    moments: int
    record: bytes
    returns: bytes

    def is_left_in(self, place: Path, workers: int) -> bool:
        """Return whether a folder holds the same but for the number of workers."""
        record, returns = files(place)
        told = f"--threads {workers}".encode()
        record = json.loads(record.replace(told, b"--threads 1"))
        notes = [each for each in record["notes"] if each["code"] != "measured-earlier"]
        return {**record, "notes": notes} == json.loads(self.record) and (
            returns == self.returns
        )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    place = tmp_path_factory.mktemp("whole")
    ran = run(place)
    assert ran.status == 0
    return Whole(place, ran.moments, *files(place))


def files(place: Path) -> tuple[bytes, bytes]:
    record, returns = (place / FOLDER / n for n in ("transfer.json", "returns.npz"))
    return record.read_bytes(), returns.read_bytes()


def finished_jobs(place: Path) -> int | None:
    """Return how many jobs a ledger has, read from a copy; None: there is none yet."""
    copy = place / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    if not (place / FOLDER / "ledger.sqlite").exists():
        return None
    shutil.copytree(place / FOLDER, copy)
    with closing(sqlite3.connect(copy / "ledger.sqlite")) as connection:
        try:
            asked = "SELECT COUNT(*) FROM rows WHERE status = 'done' AND key LIKE ?"
            return int(connection.execute(asked, ("measurement/%",)).fetchone()[0])
        except sqlite3.OperationalError:  # killed before there was a table
            return None


def hit(place: Path, stop: Stop, workers: int) -> str:
    """Run until it is killed; return what was hit."""
    before = finished_jobs(place) or 0
    status = run(place, stop, workers).status
    after = finished_jobs(place)
    assert status in (-signal.SIGKILL, 0)
    assert (after or 0) >= before  # what was finished stays
    if status == 0:
        return ENDED
    if after is None:
        return "before the ledger"
    return "measuring" if after < JOBS else "intervals and files"


def test_a_run_that_is_killed_ends_with_the_same_bytes(
    tmp_path: Path, whole: Whole
) -> None:
    stops = [
        (Stop("COMMIT", 3), 1),  # the second job is in no transaction that ended
        (Stop("INSERT INTO rows", 3), 2),  # while workers run
        (Stop("INSERT INTO rows", 5, together=inf), 1),  # of all others at once
        (Stop("rename", 1), 1),  # the returns are written, and have another name yet
    ]
    expected = ["measuring", "measuring", "measuring", "intervals and files"]
    assert [hit(tmp_path, *each) for each in stops] == expected
    assert finished_jobs(tmp_path) == JOBS
    assert not (tmp_path / FOLDER / "returns.npz").exists()
    assert run(tmp_path, workers=2).status == 0
    assert whole.is_left_in(tmp_path, 2)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_fifty_kills_change_no_byte(tmp_path: Path, whole: Whole, workers: int) -> None:
    """A few in each folder, drawn from the moments that are left there."""
    rng = np.random.default_rng(workers)
    again = run(whole.place).moments  # of a run that finds all its jobs
    found: Counter[str] = Counter()
    at = 0
    while found.total() - found[ENDED] < 50:
        place, at = tmp_path / str(at), at + 1
        for _ in range(4):
            done = finished_jobs(place)
            left = whole.moments if done is None else again + EACH * (JOBS - done)
            stop = Stop("", int(rng.integers(1, left + 1)))
            found[hit(place, stop, workers)] += 1
        assert run(place, workers=workers).status == 0
        assert whole.is_left_in(place, workers)
    print(f"workers: {workers}, hit: {dict(found)}")
    assert found["measuring"] >= 20


@pytest.mark.slow
def test_an_interrupt_says_so_in_a_line_and_can_be_resumed(
    tmp_path: Path, whole: Whole
) -> None:
    """The signal goes to the workers as well, as that of a terminal does.

    SQLite swallows what is raised while it tells of a statement: a run that only waits
    for the exception would go on to its end.
    """
    stops = [
        (Stop("SELECT content", JOBS, "SIGINT"), 2),  # workers will start
        (Stop("INSERT INTO rows", 3, "SIGINT"), 1),
        (Stop("INSERT INTO rows", 3, "SIGINT"), 2),
    ]
    for stop, workers in stops:
        ran = run(tmp_path, stop, workers)
        assert ran.status == 130
        assert ran.lines[0] == "stopped: interrupted"
        assert len(ran.lines) == 2  # the second one is of `dying.py`
        assert finished_jobs(tmp_path) in range(JOBS)
        assert not (tmp_path / FOLDER / "transfer.json").exists()
    assert run(tmp_path).status == 0
    assert whole.is_left_in(tmp_path, 1)
