"""A driver that is interrupted or killed leaves no worker, and nothing half done."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.driver import TASKS
from tests.processes.tasks import BEGUN
from tests.sessions import (
    HANGS,
    all_gone,
    interrupt,
    killed_if_it_fails,
    wait_until,
)


@contextmanager
def driver(folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a driver in a session of its own; both its workers have a task."""
    command = [sys.executable, "-m", "tests.processes.driver", str(folder), *options]
    process = subprocess.Popen(command, start_new_session=True)
    with process, killed_if_it_fails(process.pid):
        wait_until(lambda: len(begun(folder)) >= 2)
        yield process
        all_gone(process.pid)


def begun(folder: Path) -> set[int]:
    return {int(each.name.split("-")[1]) for each in folder.glob(f"{BEGUN}-*")}


def ended(folder: Path) -> list[int]:
    path = folder / "ended"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_after_one_interrupt_running_tasks_end_and_none_begins(tmp_path: Path) -> None:
    with driver(tmp_path) as process:
        interrupt(process.pid, session=True)
        assert process.poll() is None
        (tmp_path / "go").touch()
        assert process.wait(HANGS) == 130
    assert set(ended(tmp_path)) == begun(tmp_path)
    assert len(ended(tmp_path)) == len(begun(tmp_path)) < TASKS


@pytest.mark.parametrize("patient", [True, False])
def test_after_two_interrupts_it_ends_at_once(tmp_path: Path, patient: bool) -> None:
    """If it is not patient, one is enough."""
    with driver(tmp_path, *([] if patient else ["impatient"])) as process:
        for _ in range(1 + patient):
            interrupt(process.pid, session=True)
        assert process.wait(HANGS) == 130
    assert not ended(tmp_path)


def test_a_driver_that_is_killed_leaves_no_worker(tmp_path: Path) -> None:
    with driver(tmp_path) as process:
        process.kill()
        assert process.wait(HANGS) == -signal.SIGKILL
    assert not ended(tmp_path)


def test_a_worker_that_starts_is_not_interrupted(tmp_path: Path) -> None:
    """It would say so by a traceback."""
    command = [sys.executable, "-m", "tests.processes.driver", str(tmp_path)]
    command += ["impatient", "early"]
    ended = subprocess.run(
        command,
        start_new_session=True,
        capture_output=True,
        check=False,
        timeout=HANGS,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_without_an_interrupt_all_tasks_end(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    with driver(tmp_path) as process:
        assert process.wait(HANGS) == 0
    assert sorted(ended(tmp_path)) == list(range(TASKS))
