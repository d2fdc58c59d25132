"""The parts of identify one by one, each where it changes its mind.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from math import ceil, inf, log, sqrt
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.identify import (
    experiment_steps,
    shared_paths as sharing,
    telling_apart as telling,
)
from tests.answers.audit_cases import coins

asking: Any = import_module("simgap.answers.identify.identify")
running: Any = import_module("simgap.answers.identify.identify_run")


# the best experiment


def test_steps_ahead_are_the_first_whose_power_is_low_enough() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        recent = np.sort(rng.uniform(0.2, 1.0, rng.integers(1, 5)))[::-1]
        factor, level = rng.uniform(0.1, 0.95), rng.uniform(0.01, 0.9)
        found = next(
            at + k * recent.size
            for k in range(1, 1000)
            for at in range(recent.size)
            if recent[at] * factor**k <= level
        )
        for low in (False, True):
            assert experiment_steps._passage(recent, factor, level, low=low) == found
    two = np.array([1.0, 0.9])
    assert experiment_steps._passage(two, 1.0, 0.5, low=False) == inf
    assert experiment_steps._passage(two, 1.0, 0.5, low=True) == 2
    for low in (False, True):
        assert experiment_steps._passage(two, 0.0, 0.5, low=low) == 2
    # where a power meets the level, rounding errs on the safe side
    one = np.array([1.0])
    ends = [
        [experiment_steps._passage(one, 0.5, 0.5**n, low=low) for low in (True, False)]
        for n in range(1, 40)
    ]
    assert all(low <= n <= high for n, (low, high) in enumerate(ends, start=1))


class Course:
    """Steps that were computed beforehand: bounds for the two levels 0.5 and 0.25."""

    def __init__(self, *bounds: tuple[float, float], over_at: int = 10**9) -> None:
        self.bounds, self.size, self.swept = bounds, 1, 0
        self.over_at = over_at

    def sweep(self, count: int, enough: float) -> None:
        assert enough == 0.25
        self.swept += count

    @property
    def over(self) -> bool:
        return self.swept >= self.over_at

    def earliest(self, level: float) -> float:
        return self.bounds[0 if level == 0.5 else 1][0]

    def latest(self, level: float) -> float:
        return self.bounds[0 if level == 0.5 else 1][1]


def raced(best: Course, *, lasting: Course | None = None, **more: Any) -> Any:
    limit = None if "limit" not in more else Stand(sweep=lambda count: more["limit"])
    race: Any = experiment_steps._race
    most = more.get("most", 100)
    return race(best, lasting or best, limit, (0.5, 0.25), most).ends


def test_a_race_ends_with_what_is_known_of_both_levels() -> None:
    known = Course((3, 3), (7, 7))
    assert raced(known) == (3, 7)
    assert known.swept == experiment_steps.FIRST  # one look is enough
    wide = Course((3, 5), (7, inf))
    assert raced(wide, most=100) == (3, inf)
    assert wide.swept == 100  # 16, 32, 64, and the rest
    over = Course((3, 5), (7, 90), over_at=20)
    assert raced(over) == (3, 90) and over.swept == 32
    other = Course((4, 8), (9, 50))
    assert raced(Course((3, 5), (7, inf)), lasting=other) == (3, 50)
    assert other.swept == 100


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (0.51, (inf, inf)),  # BC never gets to the first level
        (0.5, (3, inf)),
        (0.26, (3, inf)),  # nor to the second
        (0.25, (3, 9)),
    ],
)
def test_a_limit_above_a_level_is_never(limit: float, expected: Any) -> None:
    assert raced(Course((3, 5), (7, 9)), limit=limit) == expected


def test_ends_that_hardly_move_are_left_alone() -> None:
    """After KEEN products, an end within a thousandth is as good as known."""
    close = Course((1000, 1001), (2000, 2002))
    close.size = experiment_steps.KEEN
    assert raced(close, most=10**4) == (1000, 2002)
    assert close.swept == 16
    rough = Course((1000, 1100), (2000, 2002))
    rough.size = experiment_steps.KEEN
    assert raced(rough, most=64) == (1000, 2002)
    assert rough.swept == 32  # the second look brought nothing new


def test_a_passage_is_settled_if_it_is_close_or_moves_no_more() -> None:
    def narrow(passage: Any, low: float, high: float, other: float = inf) -> bool:
        best = Course((low, high), (0, 0))
        lasting = Course((0, other), (0, 0))
        return bool(passage.narrow(best, lasting))

    passage = experiment_steps._Passage(0.5)
    assert not narrow(passage, 500, inf)
    assert not narrow(passage, 400, 2000)
    assert (passage.earliest, passage.latest) == (500, 2000)
    assert not narrow(passage, 501, 3000)  # it moved by more than a thousandth
    assert narrow(passage, 501, 3000)
    assert narrow(passage, 1998, 3000)  # a thousandth of 2000
    assert narrow(passage, 0, 3000, 1999)
    assert (passage.earliest, passage.latest) == (1998, 1999)


def place(hellinger: float) -> Any:
    return telling._Place(0, 0.1, hellinger, 1.0 - hellinger)


def test_visits_are_those_of_the_exponent_up_to_a_limit() -> None:
    wanted = log(10.0)  # of an error of 5 %
    assert telling._visits(place(0.9), 0.05) == 1  # BC is twice the error
    assert telling._visits(place(0.5), 0.05) == ceil(wanted / log(2.0))
    assert telling._visits(place(0.25), 0.05) == ceil(wanted / -log(0.75))
    assert telling._visits(place(wanted * 0.99e-15), 0.05) is None
    visits = telling._visits(place(wanted * 1.01e-15), 0.05)
    assert visits == pytest.approx(1e15 / 1.01)


def test_shared_paths_cannot_be_written_to() -> None:
    paths = sharing.shared_paths(coins(0.2, 0.9).simulators, 0, 1)
    arrays = [getattr(paths, each.name) for each in fields(paths)]
    arrays = [each for each in arrays if isinstance(each, np.ndarray)]
    assert len(arrays) == 8
    assert not any(each.flags.writeable for each in arrays)
    assert not paths.edge_begins.flags.writeable
    kinds = {each.dtype for each in (paths.states, paths.groups, paths.row)}
    assert kinds == {np.dtype(np.int64)} and paths.indices.dtype == np.int32
    assert paths.terms == 2


def test_a_course_of_throws_is_that_of_powers() -> None:
    """BC_n of two coins is BC^n: those computed, and those that lie ahead."""
    every = coins(0.2, 0.7).simulators
    one = sqrt(0.2 * 0.7) + sqrt(0.8 * 0.3)
    paths = sharing.shared_paths(every, 0, 1)
    course = experiment_steps._Course(paths)
    assert course.size == paths.shared.size + paths.row.size
    assert (course.swept, course.earliest(0.5), course.latest(0.5)) == (0, 1, inf)
    course.sweep(1, 0.0)  # one step says nothing of the next ones
    assert (course.swept, course.earliest(0.5), course.latest(0.5)) == (1, 2, inf)
    course.sweep(16, 0.0)
    assert course.swept == 17 and not course.over
    for n in (0, 1, 2, 9, 17, 18, 33, 34, 100, 1000):
        for slack, found in ((1.0 + 1e-9, n), (1.0 - 1e-9, n + 1)):
            level = one**n * slack
            if level <= 1.0:
                assert course.earliest(level) == course.latest(level) == found
    course.sweep(16, one**20 * (1.0 + 1e-9))
    assert course.swept == 20 and course.over
