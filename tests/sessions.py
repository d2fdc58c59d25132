"""Programs in a session of their own, of which no process may be left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HANGS = 300.0  # seconds after which a process hangs, on a machine that is busy
FOREVER = 3600.0  # seconds: longer than anybody waits
PENDING = ("SigPnd:", "ShdPnd:")


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


def wait_until(what: Callable[[], object]) -> None:
    """Wait until something is the case."""
    deadline = time.monotonic() + HANGS
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def all_gone(leader: int) -> None:
    """Wait until no process of a session is left."""
    deadline = time.monotonic() + HANGS
    while left := in_session(leader):
        assert time.monotonic() < deadline, f"processes {left} are left"
        time.sleep(0.05)


def begun(process: int) -> bool:
    """Return whether a `simgap` listens to interrupts: by a thread of its own."""
    with suppress(OSError):
        return len(list(Path(f"/proc/{process}/task").iterdir())) > 1
    return False


def interrupt(process: int, *, session: bool = False) -> None:
    """Send SIGINT, as a terminal does to a session; wait until it is delivered.

    A second one before that would be the same one.
    """
    (os.killpg if session else os.kill)(process, signal.SIGINT)
    wait_until(lambda: not _pending(process))


def _pending(process: int) -> bool:
    """Return whether an interrupt has been sent to a process and not delivered."""
    try:
        about = Path(f"/proc/{process}/status").read_text().split()
    except OSError:
        return False
    sets = [int(about[about.index(name) + 1], 16) for name in PENDING]
    ended = about[about.index("State:") + 1] in "ZX"
    return not ended and any(each >> (signal.SIGINT - 1) & 1 for each in sets)


@contextmanager
def killed_if_it_fails(leader: int) -> Iterator[None]:
    """Leave no process of a session behind when a test fails."""
    try:
        yield
    except BaseException:
        for each in in_session(leader):
            os.kill(each, signal.SIGKILL)
        raise
