"""What it costs not to know one model from another, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

from simgap.intervals import Certified
from simgap.records.pair_prices import PairPrices
from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.plots import short_names
from simgap.report.shown_number import NOTHING, ShownNumber, show
from simgap.text import shown, without_parameters

MOST_PAIRED = 48  # models in the map


def pair_prices_plot(
    names: Sequence[str], prices: PairPrices, noise: float, key: str
) -> HeatPlot | None:
    """Return the map of `pair_prices` of a record, None if its tables are no such."""
    priced = prices.models
    tables = prices.lower, prices.upper
    named = all(0 <= at < len(names) for at in priced)
    square = all(
        len(rows) == len(priced) and all(len(row) == len(priced) for row in rows)
        for rows in tables
    )
    if not named or not square or len(priced) < 2:
        return None
    kept = spread_out(len(priced), MOST_PAIRED)
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
        cells=tuple(tuple(_cell(prices, i, j, noise) for j in kept) for i in kept),
        note="The price of a pair is what the best agent loses on average if only "
        "these two models are possible." + left,
        column_word="or",
    )


def _cell(prices: PairPrices, i: int, j: int, noise: float) -> ShownNumber:
    if i == j:
        return NOTHING
    lower, upper = prices.lower[i][j], prices.upper[i][j]
    return show(Certified(lower, max(lower, upper)), noise=noise)
