"""A clock that stands still while numba compiles, and who is told that it does.

Kernels are compiled when they are first called and kept beside the library, so that
only the first run after an installation is slow. That time is told apart from planning,
and limits do not count it.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, final

from numba.core import event

from simgap._kernels import compile_news


@final
class _CompileTime(event.Listener):  # type: ignore[misc]
    """Adds up the outermost compilations."""

    def __init__(self) -> None:
        self.total = 0.0
        self.depth = 0

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.began = perf_counter()
            if compile_news.tell is not None:
                compile_news.tell(self.total)
        self.depth += 1

    def on_end(self, event: Any) -> None:
        if self.depth == 1:
            self.total += perf_counter() - self.began
        self.depth = max(0, self.depth - 1)


_listener = _CompileTime()
event.register("numba:compile", _listener)


def compile_seconds() -> float:
    """Return how long this process has compiled so far."""
    return _listener.total


def working_seconds() -> float:
    """Return the seconds of a clock that stands still during compilation."""
    return perf_counter() - _listener.total
