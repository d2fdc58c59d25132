"""Killed drivers and workers: nothing acknowledged is lost or run again."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from simgap.sweeps import sweep
from tests.sessions import all_gone, killed_if_it_fails, wait_until
from tests.sweeps.noted import Noted, kill, workers_of
from tests.sweeps.small import Here

CELLS, FEW = 40, 14


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


def kill_driver(
    noted: Noted,
    rng: random.Random,
    *,
    workers: int = 2,
    early: float = 0.15,
    calls_later: int = 60,
    held: bool = False,
) -> str:
    """Start or resume the sweep, kill its driver some time; return what was hit.

    `early` is the chance that it has hardly begun. If it is `held`, it waits in a cell
    until it is killed. No cell that had been acknowledged by then may run again.
    """
    before, calls = noted.kept(), len(noted.calls())
    words = ("resume", "run", "--workers", str(workers))
    often = before.done and rng.random() < 0.5
    later = calls + rng.randrange(1, calls_later)
    if held:
        noted.hold(later)
    process = noted.start(*(words if often else ()), workers=workers)
    with killed_if_it_fails(process.pid):
        if rng.random() < early:  # imports, the plan, the ledger
            time.sleep(rng.uniform(0.0, 5.0))
        else:  # some cells later
            wait_for(noted, later, process)
            time.sleep(rng.choice([0.0, rng.uniform(0.0, 0.1)]))
        kill(process.pid)
        process.communicate()
        after = noted.kept()
        assert before.done <= after.done
        again = set(noted.calls()[calls:]) & before.done
        assert not again, f"cells {again} were finished, and were run again"
        assert set(after.rows.values()) <= {1}
        if rng.random() < 0.7:  # else the next driver meets workers of this one
            all_gone(process.pid)
    if process.returncode == 0:
        return "it had ended"
    return "before the first cell" if len(noted.calls()) == calls else "cells"


def kill_workers(
    noted: Noted,
    rng: random.Random,
    most: int,
    *,
    workers: int = 2,
    held: bool = False,
) -> int:
    """Run the sweep while its workers are killed; return how many were.

    If it is `held`, it waits in a cell until its worker is killed. A driver of which
    several were killed before one had started has given up: it is resumed.
    """
    kills, process = 0, noted.start(workers=workers)
    while True:
        with killed_if_it_fails(process.pid):
            while process.poll() is None and kills < most:
                later = len(noted.calls()) + rng.randrange(25)
                if held:
                    later += 1  # not one of before
                    noted.hold(later)
                wait_for(noted, later, process)
                time.sleep(rng.uniform(0.0, 0.03))
                alive = workers_of(process.pid)
                if alive:
                    kills += kill(rng.choice(alive))
            if held:
                noted.release()
            said = process.communicate(timeout=3600)[1]
            all_gone(process.pid)
        if process.returncode == 0:
            return kills
        assert "died before they had started" in said, said
        process = noted.start("resume", "run")


def as_if_nothing_had_been(noted: Noted, whole: Noted) -> None:
    assert noted.table() == whole.table()
    kept = noted.kept()
    assert kept.done == frozenset(range(noted.cells))
    assert set(kept.rows.values()) == {1}  # none is there twice


def runs(noted: Noted) -> int:
    """Return how often cells were begun again, counted by themselves."""
    counts = Counter(noted.calls()).values()
    once = min(counts)  # a cell that was finished at once
    return sum(-(-each // once) - 1 for each in counts)


def test_killed_drivers_and_workers_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same sweep, undisturbed, runs in this process."""
    rng, whole = random.Random(5), Noted(tmp_path / "whole", FEW)
    monkeypatch.chdir(whole.place)
    sweep("plan.toml", out="run", engine=Here())
    noted = Noted(tmp_path / "killed", FEW)
    for _ in range(2):
        hit = kill_driver(noted, rng, workers=1, early=0.0, calls_later=20, held=True)
        assert hit == "cells"
    kills = kill_workers(noted, rng, 2, workers=1, held=True)
    assert kills == 2
    as_if_nothing_had_been(noted, whole)
    assert runs(noted) <= 2 + kills


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
        assert runs(noted) <= killed
        kills, repeated = kills + killed, repeated + runs(noted)
    print(f"{folders} folders, {kills} workers killed, {repeated} cells begun again")
