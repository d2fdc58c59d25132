"""A driver that is interrupted or killed leaves no worker, and nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.driver import TASKS
from tests.processes.tasks import BEGUN
from tests.sessions import all_gone, killed_if_it_fails


@contextmanager
def driver(folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a driver in a session of its own; both its workers have a task."""
    command = [sys.executable, "-m", "tests.processes.driver", str(folder), *options]
    process = subprocess.Popen(command, start_new_session=True)
    with process, killed_if_it_fails(process.pid):
        deadline = time.monotonic() + 60.0
        while len(begun(folder)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process
        all_gone(process.pid, 3.0)


def begun(folder: Path) -> set[int]:
    return {int(each.name.split("-")[1]) for each in folder.glob(f"{BEGUN}-*")}


def ended(folder: Path) -> list[int]:
    path = folder / "ended"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Interrupt all processes, as a terminal does."""
    os.killpg(process.pid, signal.SIGINT)


def test_after_one_interrupt_running_tasks_end_and_none_begins(tmp_path: Path) -> None:
    with driver(tmp_path) as process:
        interrupt(process)
        time.sleep(1.0)
        assert process.poll() is None
        (tmp_path / "go").touch()
        assert process.wait(60.0) == 130
    assert set(ended(tmp_path)) == begun(tmp_path)
    assert len(ended(tmp_path)) == len(begun(tmp_path)) < TASKS


@pytest.mark.parametrize("patient", [True, False])
def test_after_two_interrupts_it_ends_at_once(tmp_path: Path, patient: bool) -> None:
    """If it is not patient, one is enough."""
    with driver(tmp_path, *([] if patient else ["impatient"])) as process:
        interrupt(process)
        if patient:
            time.sleep(0.5)
            interrupt(process)
        assert process.wait(60.0) == 130
    assert not ended(tmp_path)


def test_a_driver_that_is_killed_leaves_no_worker(tmp_path: Path) -> None:
    with driver(tmp_path) as process:
        process.kill()
        assert process.wait(60.0) == -signal.SIGKILL
    assert not ended(tmp_path)


def test_a_worker_that_starts_is_not_interrupted(tmp_path: Path) -> None:
    """It would say so by a traceback."""
    command = [sys.executable, "-m", "tests.processes.driver", str(tmp_path), "early"]
    ended = subprocess.run(
        command, start_new_session=True, capture_output=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_without_an_interrupt_all_tasks_end(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    with driver(tmp_path) as process:
        assert process.wait(60.0) == 0
    assert sorted(ended(tmp_path)) == list(range(TASKS))
