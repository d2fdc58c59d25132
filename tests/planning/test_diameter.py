"""The diameter: which targets are looked at again, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import NotSolved
from simgap.instances import cycle, nodrift, riverswim
from simgap.planning import all_travel_times, diameter, travel, travel_times
from simgap.planning.travel_solver import Solved, TravelSolver


def pretend(
    monkeypatch: pytest.MonkeyPatch,
    swept: list[tuple[float, float, float]],
    sharpened: dict[int, tuple[float, float]],
) -> list[int]:
    """Let sweeps end in (time, low, high) by target; return what is sharpened."""
    asked: list[int] = []

    def times(target: int, longest: float) -> FloatArray:
        found: FloatArray = np.full(4, 0.5)
        found[target], found[(target + 2) % 4] = 0.0, longest
        return found

    def hardest(self: TravelSolver) -> list[Solved]:
        return [
            Solved(target, times(target, longest), low, high)
            for target, (longest, low, high) in enumerate(swept)
        ]

    def sharp(self: TravelSolver, target: int) -> Solved:
        asked.append(target)
        longest, room = sharpened[target]
        return Solved(target, times(target, longest), 1.0 - room, 1.0 + room)

    monkeypatch.setattr(TravelSolver, "hardest", hardest)
    monkeypatch.setattr(TravelSolver, "sharp", sharp)
    return asked


def test_targets_are_sharpened_until_none_can_be_harder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From 11.55 down; 8.8 is below the 10.4 that is certain by then."""
    monkeypatch.setattr(travel, "SHARPEN_UP_TO", 4)
    swept = [(10.0, 0.9, 1.1), (10.5, 0.9, 1.1), (8.0, 0.9, 1.1)]
    asked = pretend(monkeypatch, swept, {0: (10.4, 0.0), 1: (10.2, 0.0)})
    found = diameter(nodrift(4))
    assert asked == [1, 0]
    assert (found.lower, found.upper) == (10.4, 10.4)
    assert (int(found.source[0]), int(found.target[0])) == (2, 0)


def test_a_sharpened_end_is_taken_only_where_it_is_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    swept = [(10.0, 0.9, 1.1), (4.0, 0.5, 3.0)]
    pretend(monkeypatch, swept, {0: (10.0, 0.25), 1: (11.0, 0.0)})
    found = diameter(nodrift(4), tolerance=1e-3)
    assert (found.lower, found.upper) == (11.0, 11.0)
    assert (int(found.source[0]), int(found.target[0])) == (3, 1)


def test_a_diameter_is_as_narrow_as_was_asked_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(travel, "SHARPEN_UP_TO", 3)
    for swept, wanted in (
        ([(10.0, 1.0, 1.49), (9.0, 1.0, 1.5)], (10.0, 14.9)),
        ([(10.0, 1.0, 1.51), (9.0, 1.0, 1.5)], None),
        ([(10.0, 1.0, 1.25), (9.0, 1.0, 1.7)], None),
    ):
        asked = pretend(monkeypatch, swept, {})
        if wanted:
            found = diameter(nodrift(4), tolerance=0.5)
            assert (found.lower, found.upper) == pytest.approx(wanted, rel=1e-14)
        else:
            with pytest.raises(NotSolved) as caught:
                diameter(nodrift(4), tolerance=0.5)
            assert caught.value.result == (10.0, max(t * h for t, _, h in swept))
        assert not asked
    for wrong in ([(0.9, 1.0, 1.0)], [(10.0, 1.2, 1.1)]):
        pretend(monkeypatch, wrong, {})
        with pytest.raises(AssertionError):
            diameter(nodrift(4), tolerance=0.5)
    pretend(monkeypatch, [(1.0, 1.0, 1.0)], {})
    assert diameter(nodrift(4)).upper == 1.0


def test_progress_of_a_diameter_ends_with_every_target() -> None:
    """Targets that are dropped count when their model is done."""
    seen: list[tuple[int, int]] = []
    diameter(riverswim(20, (0.3, 0.4)), progress=lambda *x: seen.append(x))
    assert {whole for _, whole in seen} == {40}
    done = [count for count, _ in seen]
    assert done == sorted(done)
    assert done[0] == 0
    assert {20, 40} <= set(done)
    assert done[-1] == 40
    assert max(np.diff(done[: done.index(20)])) == 1


def test_the_narrowest_tolerance_is_met_where_every_step_is_certain() -> None:
    """Rings of two and three: one step and two, to the last digit or two."""
    for states in (2, 3):
        wide = diameter(cycle(states), tolerance=1e-14)
        assert wide.lower <= states - 1 <= wide.upper <= wide.lower * (1.0 + 2e-14)
    one = travel_times(cycle(3), 0, tolerance=1e-14)
    every = all_travel_times(cycle(3), tolerance=1e-14)
    for found in (one.upper[0], every.upper[0, 0]):
        assert found == pytest.approx(np.array([0.0, 2.0, 1.0]), rel=2e-14)
