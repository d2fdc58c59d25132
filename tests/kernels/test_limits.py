"""Limits of time and memory: the strictest around counts, and ends with its block."""

from __future__ import annotations

from math import inf

import pytest

from simgap._kernels.time_limit import (
    AT_ONCE,
    check_time,
    claim,
    memory_limited,
    pieces,
    seconds_left,
    time_limited,
)
from simgap.errors import OutOfMemory, OutOfTime


def test_the_earliest_limit_around_counts_and_ends_with_its_block() -> None:
    assert seconds_left() == inf
    with time_limited(1e9):
        check_time()
        with time_limited(0.0), time_limited(1e9), pytest.raises(OutOfTime):
            check_time()
        check_time()
    assert seconds_left() == inf


def test_memory_is_claimed_up_to_the_limit() -> None:
    with memory_limited(1e15):
        claim(1e12)
        with pytest.raises(OutOfMemory):
            claim(2e15)
    claim(1e30)


@pytest.mark.parametrize(
    ("jobs", "work", "sizes"),
    [(7, AT_ONCE / 3.0, [3, 3, 1]), (2, 10.0 * AT_ONCE, [1, 1]), (0, 1.0, [])],
)
def test_pieces_are_all_jobs_in_turn(jobs: int, work: float, sizes: list[int]) -> None:
    found = list(pieces(jobs, work))
    assert [each.stop - each.start for each in found] == sizes
    assert [i for each in found for i in range(jobs)[each]] == list(range(jobs))
