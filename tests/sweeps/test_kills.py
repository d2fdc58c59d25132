"""Killed drivers and workers: nothing acknowledged is lost or run again."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from simgap.sweeps.sweep import sweep
from tests.sessions import all_gone, killed_if_it_fails, wait_until
from tests.sweeps.noted import Noted, kill, workers_of
from tests.sweeps.small import Here

CELLS = 14


def wait_for(noted: Noted, calls: int, process: subprocess.Popen[str]) -> None:
    """Wait until there are so many calls, or the sweep has ended."""
    wait_until(lambda: process.poll() is not None or len(noted.calls()) >= calls)


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


def kill_driver(noted: Noted, later: int) -> None:
    """Start the sweep and kill its driver in a cell; none that is there runs again."""
    before, calls = noted.kept(), len(noted.calls())
    noted.hold(calls + later)
    process = noted.start(workers=1)
    with killed_if_it_fails(process.pid):
        wait_for(noted, calls + later, process)
        kill(process.pid)
        process.communicate()
        assert before.done <= noted.kept().done
        assert not set(noted.calls()[calls:]) & before.done
        all_gone(process.pid)


def kill_workers(noted: Noted, later: int) -> None:
    """Run the sweep to its end; two of its workers are killed in a cell."""
    process = noted.start(workers=1)
    with killed_if_it_fails(process.pid):
        for _ in range(2):
            calls = len(noted.calls()) + later
            noted.hold(calls)
            wait_for(noted, calls, process)
            (worker,) = workers_of(process.pid)
            assert kill(worker)
        noted.release()
        said = process.communicate(timeout=3600)[1]
        assert process.returncode == 0, said
        all_gone(process.pid)


def test_killed_drivers_and_workers_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same sweep, undisturbed, runs in this process."""
    whole = Noted(tmp_path / "whole", CELLS)
    monkeypatch.chdir(whole.place)
    sweep("plan.toml", out="run", engine=Here())
    noted = Noted(tmp_path / "killed", CELLS)
    for later in (3, 17):
        kill_driver(noted, later)
    kill_workers(noted, 5)
    as_if_nothing_had_been(noted, whole)
    assert runs(noted) <= 4
