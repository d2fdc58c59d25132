"""Where the bars of a figure go; the template draws them as inline SVG.

The drawing is 340 units wide with each label above its bar, so that text keeps its
size on a narrow screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import final

from simgap.records import Certified
from simgap.report.words import bracket, number, shown

WIDTH = 340.0
ROW = 46.0
FOOT = 22.0
MOST_BARS = 24
FLATTENS = 6.0  # times the second longest bar: then the longest is cut


@final
@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, in the units of the drawing."""

    label: str
    text: str
    top: float
    begin: float
    width: float
    spread: tuple[float, float] | None  # ends of the bounds, if one can see them
    endless: bool
    sure: str = ""  # of this bar alone, where bars differ
    beyond: bool = False  # longer than the axis: drawn with a break


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """Bars over one axis."""

    key: str
    title: str
    unit: str
    certainty: str
    bars: tuple[Bar, ...]
    left_out: int
    width: float
    height: float
    zero: float  # where the axis has its 0
    lowest: str
    highest: str


def bar_figure(
    key: str,
    title: str,
    values: Sequence[tuple[str, Certified]],
    *,
    unit: str,
    certainty: str,
    sures: Sequence[str] = (),
    digits: int = 5,
) -> Figure | None:
    """Return a figure of certified quantities, one bar per name; None without any.

    `sures` labels the bars one by one where they are not equally certain.
    """
    known = [
        (name, lower, upper, bracket(bounds, digits), sure)
        for (name, bounds), sure in zip(
            values, sures or [""] * len(values), strict=True
        )
        for lower, upper in ((bounds.lower, bounds.upper),)
        if lower is not None and upper is not None
    ]
    if not known:
        return None
    finite = [x for each in known for x in each[1:3] if not isinf(x)]
    least, most = min([0.0, *finite]), _end([0.0, *finite])
    scale = WIDTH / (most - least) if most > least else 0.0

    def across(value: float) -> float:
        return min(max((value - least) * scale, 0.0), WIDTH)

    bars = []
    for at, (name, lower, upper, text, sure) in enumerate(known[:MOST_BARS]):
        endless = isinf(lower) or isinf(upper)
        end = WIDTH if endless else across((lower + upper) / 2.0)
        low, high = across(lower), across(upper)
        bars.append(
            Bar(
                label=shown(name, 28),
                text=text,
                top=at * ROW,
                begin=min(across(0.0), end),
                width=abs(end - across(0.0)),
                spread=(low, high) if high - low >= 1.5 and not endless else None,
                endless=endless,
                sure=sure,
                beyond=not endless and upper > most,
            )
        )
    return Figure(
        key=key,
        title=title,
        unit=unit,
        certainty=certainty,
        bars=tuple(bars),
        left_out=len(known) - len(bars),
        width=WIDTH,
        height=len(bars) * ROW + FOOT,
        zero=across(0.0),
        lowest=number(least, 3),
        highest=number(most, 3),
    )


def _end(values: Sequence[float]) -> float:
    """Return where the axis ends: one giant does not flatten all the others."""
    most = max(values)
    others = max((value for value in values if value < 0.5 * most), default=most)
    close = sum(value >= 0.5 * most for value in values)
    if close > 2 or others <= 0.0 or most < FLATTENS * others:  # a bar has two ends
        return most
    return 1.5 * others
