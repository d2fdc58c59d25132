"""Where the cells of a heat map go: what it costs not to know one model from another.

Colours are levels of one hue, chosen by the style sheet for light and dark paper, so
that they read the same to every eye; the numbers stand in the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10
from typing import final

from simgap.records import Certified
from simgap.report.words import bracket, shown, without_common_part

LEVELS = 7
MOST_MODELS = 12
CELL_HEIGHT = 44.0
HEAD = 24.0
WIDE_FROM = 6  # models, above which a cell needs more room than half a page


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One pair of models, in the units of the drawing."""

    left: float
    top: float
    level: int  # 0 is pale; of LEVELS
    lines: tuple[str, ...]  # one number, or the two ends of a bracket
    text: str


@final
@dataclass(frozen=True, slots=True)
class HeatMap:
    """A symmetric table of brackets, drawn as coloured cells."""

    names: tuple[str, ...]
    what: str  # the parameter the names are values of, if they are
    cells: tuple[Cell, ...]
    label_width: float
    cell_width: float
    cell_height: float
    head: float
    width: float
    height: float
    wide: bool
    left_out: int
    dearest: str  # the most expensive pair, in words


def heat_map(
    names: Sequence[str],
    lower: Sequence[Sequence[float]],
    upper: Sequence[Sequence[float]],
) -> HeatMap | None:
    """Return a figure of the prices of pairs; None for fewer than two models."""
    if len(names) < 2:
        return None
    count = min(len(names), MOST_MODELS)
    wide = count > WIDE_FROM
    short, what = without_common_part([shown(name, 60) for name in names[:count]])
    labels = tuple(shown(name, 24 if wide else 12) for name in short)
    width = 1060.0 if wide else 340.0
    label_width = min(34.0 + 7.5 * max(len(label) for label in labels), 0.34 * width)
    cell_width = (width - label_width) / count
    most = max(upper[i][j] for i in range(count) for j in range(i))
    digits = max(0, 2 - floor(log10(most))) if 0.0 < most < inf else 3
    cells = tuple(
        Cell(
            left=label_width + j * cell_width,
            top=HEAD + i * CELL_HEIGHT,
            level=_level(lower[i][j], upper[i][j], most),
            lines=_lines(lower[i][j], upper[i][j], min(digits, 6)),
            text=f"{shown(names[i], 40)} or {shown(names[j], 40)}: "
            f"{bracket(Certified(lower[i][j], upper[i][j]), 3)}",
        )
        for i in range(count)
        for j in range(count)
        if i != j
    )
    return HeatMap(
        names=labels,
        what=what,
        cells=cells,
        label_width=label_width,
        cell_width=cell_width,
        cell_height=CELL_HEIGHT,
        head=HEAD,
        width=width,
        height=HEAD + count * CELL_HEIGHT + 2.0,
        wide=wide,
        left_out=len(names) - count,
        dearest=_dearest(names, lower, upper),
    )


def _level(lower: float, upper: float, most: float) -> int:
    middle = (lower + upper) / 2.0
    share = middle / most if 0.0 < most < inf else 0.0
    return min(max(int(share * LEVELS), 0), LEVELS - 1)


def _lines(lower: float, upper: float, digits: int) -> tuple[str, ...]:
    """Return one number if the ends agree, else both ends rounded outwards."""
    if upper == inf:
        return ("infinite",)
    step = 10.0**-digits
    if upper - lower < step:
        return (f"{(lower + upper) / 2.0:.{digits}f}",)
    low, high = floor(lower / step) * step, ceil(upper / step) * step
    return (f"{low:.{digits}f}", f"{high:.{digits}f}")


def _dearest(
    names: Sequence[str],
    lower: Sequence[Sequence[float]],
    upper: Sequence[Sequence[float]],
) -> str:
    pairs = [(i, j) for j in range(len(names)) for i in range(j)]
    i, j = max(pairs, key=lambda pair: lower[pair[0]][pair[1]])
    price = bracket(Certified(lower[i][j], upper[i][j]), 3)
    return f"{shown(names[i], 40)} and {shown(names[j], 40)}: {price}"
