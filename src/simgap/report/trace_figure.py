"""Where the lines of a closing bracket go: both ends of the gap over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10
from typing import final

from simgap.report.words import number

WIDTH, HEIGHT = 340.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 12.0, 30.0
SHORTEST = 1e-3  # seconds; the axis of time is logarithmic
MOST_POINTS = 400


@final
@dataclass(frozen=True, slots=True)
class TraceFigure:
    """Two step lines over the logarithm of time."""

    width: float
    height: float
    left: float
    right: float  # where the axis ends
    bottom: float
    upper_path: str
    lower_path: str
    area: str
    times: tuple[tuple[float, str], ...]  # (x, label)
    values: tuple[tuple[float, str], ...]  # (y, label)
    text: str


def trace_figure(points: Sequence[tuple[float, float, float]]) -> TraceFigure | None:
    """Return the figure of (seconds, lower, upper); None for fewer than two points."""
    finite = [each for each in points if all(isfinite(x) for x in each)]
    if len(finite) < 2:
        return None
    step = -(-len(finite) // MOST_POINTS)
    drawn = finite[::step]
    if drawn[-1] != finite[-1]:
        drawn.append(finite[-1])
    begin = log10(max(drawn[0][0], SHORTEST))
    end = max(log10(max(drawn[-1][0], SHORTEST)), begin + 1e-3)
    least, most = min(each[1] for each in drawn), max(each[2] for each in drawn)
    span = most - least or 1.0

    def across(seconds: float) -> float:
        share = (log10(max(seconds, SHORTEST)) - begin) / (end - begin)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 2)

    def down(value: float) -> float:
        share = (value - least) / span
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 2)

    upper = _steps([(across(t), down(high)) for t, _, high in drawn])
    lower = _steps([(across(t), down(low)) for t, low, _ in drawn])
    first, last = drawn[0], drawn[-1]
    return TraceFigure(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        bottom=HEIGHT - BOTTOM,
        upper_path=_path(upper),
        lower_path=_path(lower),
        area=f"{_path(upper)}L{_path(lower[::-1])[1:]}Z",
        times=_time_ticks(first[0], last[0], across),
        values=tuple(
            (down(value), number(value, 3)) for value in _apart(least, last[1:], most)
        ),
        text=f"after {number(first[0], 2)} s between {number(first[1], 3)} and "
        f"{number(first[2], 3)}, after {number(last[0], 2)} s between "
        f"{number(last[1], 3)} and {number(last[2], 3)}",
    )


def _steps(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return a staircase: an end holds until the next one is found."""
    path = [corners[0]]
    for x, y in corners[1:]:
        if y != path[-1][1]:
            path += [(x, path[-1][1]), (x, y)]
    if path[-1][0] != corners[-1][0]:
        path.append((corners[-1][0], path[-1][1]))
    return path


def _path(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _time_ticks(
    first: float, last: float, across: object
) -> tuple[tuple[float, str], ...]:
    assert callable(across)
    ends = (max(first, SHORTEST), max(last, SHORTEST))
    return tuple((float(across(t)), f"{number(t, 2)} s") for t in ends)


def _apart(least: float, last: Sequence[float], most: float) -> list[float]:
    """Return values to label, none of them so close to another that labels overlap."""
    chosen: list[float] = []
    for value in (most, least, *last):
        if all(abs(value - each) > 0.1 * (most - least) for each in chosen):
            chosen.append(value)
    return chosen
