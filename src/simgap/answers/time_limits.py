"""How long a question may take as a whole, given the time for planning."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import signature
from math import inf
from time import perf_counter
from typing import ParamSpec, TypeVar, cast

from simgap._kernels import compile_news
from simgap._kernels.time_limit import time_limited
from simgap.errors import InvalidArgument

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def whole_time(time_limit: float | None) -> float:
    """Return the time for planning and all that follows, given that for planning.

    What has begun then ends soon after: within one and a half times the limit and the
    two seconds that a command takes to start. One that started slowly has less left.
    """
    if time_limit is None:
        return inf
    if not time_limit > 0.0:
        raise InvalidArgument(
            f"time_limit is {time_limit!r}", hint="seconds, above 0, or None"
        )
    return max(1.1 * time_limit + 0.2, 1.3 * time_limit + 0.3 - _late())


@cache
def _late() -> float:
    """Return by how many seconds the first question of a command came late."""
    if compile_news.command_began is None:
        return 0.0
    started = perf_counter() - compile_news.command_began
    return min(max(0.0, started - 1.0), 1.0)


def in_time(question: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Let a question with a keyword `time_limit` end soon after it, answered or not.

    `OutOfTime` is raised if it has no answer by then.
    """
    usual = signature(question).parameters["time_limit"].default

    @wraps(question)
    def limited(*given: Asked.args, **named: Asked.kwargs) -> Answer:
        seconds = cast(float | None, named.get("time_limit", usual))
        with time_limited(whole_time(seconds)):
            return question(*given, **named)

    return limited
