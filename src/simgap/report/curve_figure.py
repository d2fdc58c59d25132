"""Where the curves of regret against steps go: logarithmic axes, a band per curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import final

from simgap.report.words import number, shown

WIDTH, HEIGHT = 680.0, 380.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 130.0, 14.0, 40.0
MOST_CURVES = 8  # as many as eight colours and dashes can tell apart
DECADES = 7  # below the largest value, at most


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line with its band, in the units of the drawing."""

    label: str
    place: int  # which colour and dash
    path: str
    band: str
    end: tuple[float, float]  # where its label stands
    text: str


@final
@dataclass(frozen=True, slots=True)
class CurveFigure:
    """Several curves over one pair of logarithmic axes."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    curves: tuple[Curve, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    left_out: int


Point = tuple[float, float, float, float]  # step, estimate, lower, upper


def curve_figure(curves: Sequence[tuple[str, Sequence[Point]]]) -> CurveFigure | None:
    """Return the figure; the curves that end highest are drawn, None if none can be.

    Values that are not positive have no place on the axis: the line begins later.
    """
    drawn = [
        (name, [p for p in points if all(map(isfinite, p)) and p[1] > 0.0])
        for name, points in curves
    ]
    drawn = [(name, points) for name, points in drawn if len(points) > 1]
    if not drawn:
        return None
    drawn.sort(key=lambda each: -each[1][-1][1])
    chosen = drawn[:MOST_CURVES]
    most = log10(max(p[1] for _, points in chosen for p in points)) + 0.05
    least = log10(min(p[1] for _, points in chosen for p in points))
    least = max(least, most - DECADES)
    first = log10(min(points[0][0] for _, points in chosen))
    last = log10(max(points[-1][0] for _, points in chosen))
    if last <= first or most <= least:
        return None

    def x(step: float) -> float:
        share = (log10(step) - first) / (last - first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        height = log10(value) if value > 0.0 else least
        share = (min(max(height, least), most) - least) / (most - least)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)

    ends = _apart([y(points[-1][1]) for _, points in chosen])
    made = []
    for place, (name, points) in enumerate(chosen):
        line = [(x(p[0]), y(p[1])) for p in points]
        above = [(x(p[0]), y(p[3])) for p in points]
        below = [(x(p[0]), y(p[2])) for p in reversed(points)]
        made.append(
            Curve(
                label=shown(name, 18),
                place=place,
                path=_path(line),
                band=_path([*above, *below]) + "Z",
                end=(WIDTH - RIGHT + 8.0, ends[place]),
                text=f"{shown(name)}: {number(points[-1][1], 4)} after "
                f"{number(points[-1][0], 4)} steps",
            )
        )
    return CurveFigure(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        curves=tuple(made),
        across=_decades(first, last, x),
        up=_decades(least, most, y),
        left_out=len(drawn) - len(chosen),
    )


def _path(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{a:g} {b:g}" for a, b in points)


def _decades(low: float, high: float, place: object) -> tuple[tuple[float, str], ...]:
    assert callable(place)
    powers = range(ceil(low - 1e-9), floor(high + 1e-9) + 1)
    ticks = [(float(place(10.0**p)), _power(p)) for p in powers]
    if len(ticks) > 8:
        ticks = ticks[:: len(ticks) // 8 + 1]
    return tuple(ticks)


def _power(exponent: int) -> str:
    if -3 <= exponent <= 4:
        return f"{10.0**exponent:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _apart(heights: list[float], room: float = 15.0) -> list[float]:
    """Return label heights moved down until none overlaps the one above it."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed, lowest = list(heights), -1e9
    for i in order:
        placed[i] = max(heights[i], lowest + room)
        lowest = placed[i]
    return placed
