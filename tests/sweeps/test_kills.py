"""Killed drivers and workers: nothing acknowledged is lost or run again."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.sessions import all_gone, killed_if_it_fails
from tests.sweeps.noted import GONE, Noted, kill, wait_until, workers_of

CELLS = 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Noted:
    """A sweep that nobody disturbs, by one worker."""
    found = Noted(tmp_path_factory.mktemp("whole") / "place", CELLS)
    found.finish(workers=1)
    counts = Counter(found.calls())
    assert len(counts) == CELLS
    assert len(set(counts.values())) == 1  # every cell asks equally often
    return found


def wait_for(noted: Noted, calls: int, process: subprocess.Popen[str]) -> None:
    """Wait until there are so many calls, or the sweep has ended."""
    wait_until(lambda: process.poll() is not None or len(noted.calls()) >= calls)


def kill_driver(noted: Noted, rng: random.Random, workers: int = 2) -> str:
    """Start or resume the sweep, kill its driver some time; return what was hit.

    No cell that had been acknowledged by then may run again.
    """
    before, calls = noted.kept(), len(noted.calls())
    words = ("resume", "run", "--workers", str(workers))
    often = before.done and rng.random() < 0.5
    process = noted.start(*(words if often else ()), workers=workers)
    with killed_if_it_fails(process.pid):
        if rng.random() < 0.15:  # early: imports, the plan, the ledger
            time.sleep(rng.uniform(0.0, 5.0))
        else:  # some cells later
            wait_for(noted, calls + rng.randrange(1, 60), process)
            time.sleep(rng.choice([0.0, rng.uniform(0.0, 0.1)]))
        kill(process.pid)
        process.communicate()
        after = noted.kept()
        assert before.done <= after.done
        again = set(noted.calls()[calls:]) & before.done
        assert not again, f"cells {again} were finished, and were run again"
        assert set(after.rows.values()) <= {1}
        if rng.random() < 0.7:  # else the next driver meets workers of this one
            all_gone(process.pid, GONE)
    if process.returncode == 0:
        return "it had ended"
    return "before the first cell" if len(noted.calls()) == calls else "cells"


def kill_workers(noted: Noted, rng: random.Random, most: int) -> int:
    """Run the sweep while its workers are killed; return how many were.

    A driver of which several were killed before one had started has given up: it is
    resumed.
    """
    kills, process = 0, noted.start()
    while True:
        with killed_if_it_fails(process.pid):
            while process.poll() is None and kills < most:
                wait_for(noted, len(noted.calls()) + rng.randrange(25), process)
                time.sleep(rng.uniform(0.0, 0.03))
                workers = workers_of(process.pid)
                if workers:
                    kills += kill(rng.choice(workers))
            said = process.communicate(timeout=3600)[1]
            all_gone(process.pid, GONE)
        if process.returncode == 0:
            return kills
        assert "died before they had started" in said, said
        process = noted.start("resume", "run")


def as_if_nothing_had_been(noted: Noted, whole: Noted) -> None:
    assert noted.table() == whole.table()
    kept = noted.kept()
    assert kept.done == frozenset(range(CELLS))
    assert set(kept.rows.values()) == {1}  # none is there twice


def runs(noted: Noted, whole: Noted) -> int:
    """Return how often cells were begun again, counted by themselves."""
    once = len(whole.calls()) // CELLS
    return sum(-(-each // once) - 1 for each in Counter(noted.calls()).values())


def test_killed_drivers_and_workers_change_no_byte(
    tmp_path: Path, whole: Noted
) -> None:
    rng, noted = random.Random(5), Noted(tmp_path / "drivers", CELLS)
    hit = Counter(kill_driver(noted, rng, workers=1) for _ in range(5))
    noted.finish(workers=1)
    as_if_nothing_had_been(noted, whole)
    assert hit["cells"] >= 2
    noted = Noted(tmp_path / "workers", CELLS)
    kills = kill_workers(noted, rng, 5)
    as_if_nothing_had_been(noted, whole)
    assert kills >= 3
    assert runs(noted, whole) <= kills


@pytest.mark.slow
@pytest.mark.parametrize("quarter", range(4))
def test_a_hundred_killed_drivers_change_no_byte(
    tmp_path: Path, whole: Noted, quarter: int
) -> None:
    rng = random.Random(quarter)
    hit: Counter[str] = Counter()
    folders = 0
    while hit.total() - hit["it had ended"] < 25:
        noted, folders = Noted(tmp_path / f"{folders}", CELLS), folders + 1
        while len(noted.kept().done) < CELLS:
            hit[kill_driver(noted, rng)] += 1
        noted.finish()
        as_if_nothing_had_been(noted, whole)
    print(f"{folders} folders, hit: {dict(hit)}")
    assert hit["cells"] >= 15


@pytest.mark.slow
@pytest.mark.parametrize("quarter", range(4))
def test_a_hundred_killed_workers_change_no_byte(
    tmp_path: Path, whole: Noted, quarter: int
) -> None:
    rng = random.Random(quarter)
    kills = folders = repeated = 0
    while kills < 25:
        noted, folders = Noted(tmp_path / f"{folders}", CELLS), folders + 1
        killed = kill_workers(noted, rng, 25)
        as_if_nothing_had_been(noted, whole)
        assert runs(noted, whole) <= killed
        kills, repeated = kills + killed, repeated + runs(noted, whole)
    print(f"{folders} folders, {kills} workers killed, {repeated} cells begun again")
