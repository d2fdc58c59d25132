"""What it costs not to know one model from another, as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.plots import short_names
from simgap.report.reading import as_list, number
from simgap.report.shown_number import NOTHING, Told, told
from simgap.text import shown, without_parameters

MOST_PAIRED = 48  # models in the map


def pair_prices_plot(
    names: Sequence[str], prices: Mapping[str, Any], noise: float, key: str
) -> HeatPlot | None:
    """Return the map of `pair_prices` of a record, None if it has no such tables."""
    ends = [as_list(prices.get(end)) for end in ("lower", "upper")]
    priced = _priced(as_list(prices.get("models")), len(names))
    kept = spread_out(len(priced), MOST_PAIRED)
    tables = [_square(each, len(priced), kept) for each in ends]
    lower, upper = tables
    if lower is None or upper is None or len(names) < 2:
        return None
    short, what = without_parameters([shown(name) for name in names])
    labels = short_names([short[priced[at]] for at in kept])
    by = f", by {shown(what, 40)}" if what else ""
    left = f" {len(kept)} of {len(names)} models are drawn." * (len(kept) < len(names))
    return HeatPlot(
        key=key,
        title="What it costs not to know one model from another",
        row_axis="one model" + by,
        column_axis="the other" + by,
        value="price of the pair",
        rows=labels,
        columns=labels,
        cells=tuple(
            tuple(_cell(lower, upper, i, j, noise) for j in range(len(kept)))
            for i in range(len(kept))
        ),
        note="The price of a pair is what the best agent loses on average if only "
        "these two models are possible." + left,
        column_word="or",
    )


def _priced(models: list[Any], size: int) -> list[int]:
    """Return the models that the tables are about: all, unless a record names some."""
    named = all(isinstance(at, int) and 0 <= at < size for at in models)
    return models if models and named else list(range(size))


def _square(
    rows: list[Any], size: int, kept: Sequence[int]
) -> list[list[float]] | None:
    """Return the kept rows and columns of a square table, None if it is not one."""
    if len(rows) != size or any(len(as_list(row)) != size for row in rows):
        return None
    return [[number(rows[i][j]) for j in kept] for i in kept]


def _cell(
    lower: Sequence[Sequence[float]],
    upper: Sequence[Sequence[float]],
    i: int,
    j: int,
    noise: float,
) -> Told:
    if i == j:
        return NOTHING
    ends = {"lower": lower[i][j], "upper": max(lower[i][j], upper[i][j])}
    return told(ends, noise=noise)
