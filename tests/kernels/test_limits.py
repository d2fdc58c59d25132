"""Clocks that stand still during compilation, and limits by such a clock."""

from __future__ import annotations

from math import inf

import pytest

from simgap._kernels import compile_clock, compile_news, time_limit
from simgap._kernels.compile_clock import _CompileTime
from simgap._kernels.time_limit import (
    AT_ONCE,
    check_time,
    claim,
    if_in_time,
    limit_reached,
    memory_limited,
    pieces,
    resident_bytes,
    seconds_left,
    time_limited,
)
from simgap.errors import OutOfMemory, OutOfTime


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(compile_clock, "perf_counter", made)
    monkeypatch.setattr(time_limit, "working_seconds", made)
    return made


def test_only_the_outermost_compilations_are_added_up(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float] = []
    monkeypatch.setattr(compile_news, "tell", told.append)
    listener = _CompileTime()
    for begin, end in ((100.0, 103.0), (110.0, 111.0)):
        clock.now = begin
        listener.on_start(None)
        clock.now += 0.25
        listener.on_start(None)
        clock.now += 0.25
        listener.on_end(None)
        clock.now = end
        listener.on_end(None)
    clock.now = 150.0
    listener.on_end(None)  # an end that nobody has seen begin is no time
    assert listener.total == 4.0
    assert told == [0.0, 3.0]
    assert listener.depth == 0
    monkeypatch.setattr(compile_clock, "_listener", listener)
    assert compile_clock.compile_seconds() == listener.total
    assert compile_clock.working_seconds() == clock.now - listener.total


def test_the_earliest_limit_around_counts_and_ends_with_its_block(clock: Clock) -> None:
    assert seconds_left() == inf
    check_time()
    with time_limited(10.0):
        assert seconds_left() == 10.0
        with time_limited(2.0):
            assert seconds_left() == 2.0
            with time_limited(5.0):
                assert seconds_left() == 2.0
                clock.now += 1.5
                check_time()
                assert limit_reached() == "the memory limit"
                assert if_in_time(lambda: 7) == 7
                clock.now += 0.5
                assert limit_reached() == "the time limit"
                assert if_in_time(lambda: 7) is None
                with pytest.raises(OutOfTime):
                    check_time()
        assert seconds_left() == 8.0
        check_time()
    assert seconds_left() == inf


def test_memory_is_claimed_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 10**7 < resident_bytes() < 10**11
    monkeypatch.setattr(time_limit, "resident_bytes", lambda: 1000)
    claim(1e30)
    with memory_limited(1500.0):
        claim(500.0)
        with pytest.raises(OutOfMemory):
            claim(501.0)
        assert if_in_time(lambda: claim(501.0)) is None
        with memory_limited(None):
            claim(1e30)
        with pytest.raises(OutOfMemory):
            claim(501.0)
    claim(1e30)


@pytest.mark.parametrize(
    ("jobs", "work", "sizes"),
    [
        (7, AT_ONCE / 3.0, [3, 3, 1]),
        (6, AT_ONCE / 3.5, [3, 3]),
        (2, 10.0 * AT_ONCE, [1, 1]),
        (5, 0.0, [5]),
        (0, 1.0, []),
    ],
)
def test_pieces_are_all_jobs_in_turn(jobs: int, work: float, sizes: list[int]) -> None:
    found = list(pieces(jobs, work))
    assert [each.stop - each.start for each in found] == sizes
    assert [i for each in found for i in range(jobs)[each]] == list(range(jobs))


def test_pieces_end_with_the_time(clock: Clock) -> None:
    with time_limited(1.0):
        some = pieces(2, AT_ONCE)
        assert next(some) == slice(0, 1)
        clock.now += 1.0
        with pytest.raises(OutOfTime):
            next(some)
