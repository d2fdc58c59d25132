"""A time limit that everything heeds which runs inside a block, whoever computes it.

Long work asks `check_time` between pieces that take a fraction of a second. Whoever can
do without a piece calls it by `if_in_time`. Compilation does not count. A thread that
is started inside has no limit of its own: whoever waits for it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import TypeVar

from simgap._kernels.compile_clock import working_seconds
from simgap.errors import OutOfTime

Result = TypeVar("Result")

AT_ONCE = 2e7  # products of two numbers

_ends: ContextVar[float] = ContextVar("ends", default=inf)


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Let work inside end after so many seconds; an earlier end around it stays."""
    token = _ends.set(min(working_seconds() + seconds, _ends.get()))
    try:
        yield
    finally:
        _ends.reset(token)


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


def pieces(jobs: int, work: float) -> Iterator[slice]:
    """Yield equal jobs in pieces of a fraction of a second, and look at the time.

    `work` counts the products of two numbers in one job.
    """
    many = max(1, int(AT_ONCE / max(work, 1.0)))
    for first in range(0, jobs, many):
        check_time()
        yield slice(first, min(first + many, jobs))


def if_in_time(piece: Callable[[], Result]) -> Result | None:
    """Return what a piece of work gives, None if the limit passes before it does."""
    try:
        check_time()
        return piece()
    except OutOfTime:
        return None
