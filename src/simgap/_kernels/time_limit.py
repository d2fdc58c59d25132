"""Limits that everything heeds which runs inside a block, whoever computes it.

Long work asks `check_time` between pieces that take a fraction of a second, and `claim`
before it takes much memory. Whoever can do without a piece calls it by `if_in_time`.
Compilation takes no time here. A thread that is started inside has no limit of its own:
whoever waits for it has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import TypeVar

from simgap._kernels.compile_clock import working_seconds
from simgap.errors import OutOfMemory, OutOfTime

Result = TypeVar("Result")

AT_ONCE = 2e7  # products of two numbers

PAGE = os.sysconf("SC_PAGE_SIZE")  # bytes

_ends: ContextVar[float] = ContextVar("ends", default=inf)
_most_bytes: ContextVar[float] = ContextVar("most_bytes", default=inf)


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Let work inside end after so many seconds; an earlier end around it stays."""
    token = _ends.set(min(working_seconds() + seconds, _ends.get()))
    try:
        yield
    finally:
        _ends.reset(token)


@contextmanager
def memory_limited(most_bytes: float | None) -> Iterator[None]:
    """Let work inside stop that would make the process larger than so many bytes."""
    token = _most_bytes.set(inf if most_bytes is None else most_bytes)
    try:
        yield
    finally:
        _most_bytes.reset(token)


def seconds_left() -> float:
    """Return the time until the limit, infinite without one."""
    until = _ends.get()
    return until if until == inf else until - working_seconds()


def check_time() -> None:
    """Raise `OutOfTime` if the limit has passed."""
    if _ends.get() < inf and seconds_left() <= 0.0:
        raise OutOfTime(
            "the time limit was over before there was an answer",
            hint="allow more time (--time-limit), or ask for less: fewer models or "
            "states, a shorter horizon",
        )


def claim(size: float) -> None:
    """Raise `OutOfMemory` if so many bytes more are not allowed."""
    most = _most_bytes.get()
    if most < inf and resident_bytes() + size > most:
        raise OutOfMemory(
            f"{size / 1e6:.0f} MB more than the memory limit allows are needed",
            hint="allow more memory (--max-memory), or ask for less",
        )


def limit_reached() -> str:
    """Return which limit it was, for whoever has just met one."""
    return "the time limit" if seconds_left() <= 0.0 else "the memory limit"


def pieces(jobs: int, work: float) -> Iterator[slice]:
    """Yield equal jobs in pieces of a fraction of a second, and look at the time.

    `work` counts the products of two numbers in one job.
    """
    many = max(1, int(AT_ONCE / max(work, 1.0)))
    for first in range(0, jobs, many):
        check_time()
        yield slice(first, min(first + many, jobs))


def if_in_time(piece: Callable[[], Result]) -> Result | None:
    """Return what a piece of work gives, None if a limit comes before it does."""
    try:
        check_time()
        return piece()
    except (OutOfTime, OutOfMemory):
        return None


def resident_bytes() -> int:
    """Return how much memory this process holds now."""
    try:
        with open("/proc/self/statm", encoding="ascii") as told:  # noqa: PTH123
            return int(told.read().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        from resource import RUSAGE_SELF, getrusage

        return int(getrusage(RUSAGE_SELF).ru_maxrss) * 1024
