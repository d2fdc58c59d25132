"""Programs in a session of their own, of which no process may be left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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


def all_gone(leader: int, seconds: float) -> None:
    """Wait until no process of a session is left; fail if one still is then."""
    deadline = time.monotonic() + seconds
    while left := in_session(leader):
        assert time.monotonic() < deadline, f"processes {left} are left"
        time.sleep(0.05)


@contextmanager
def killed_if_it_fails(leader: int) -> Iterator[None]:
    """Leave no process of a session behind when a test fails."""
    try:
        yield
    except BaseException:
        for each in in_session(leader):
            os.kill(each, signal.SIGKILL)
        raise
