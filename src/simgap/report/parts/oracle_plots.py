"""Figures of the oracle: policies, models, pairs, and how the bracket closed."""

from __future__ import annotations

from collections.abc import Mapping

from simgap.intervals import Interval
from simgap.records.oracle import BaselinePolicy, Oracle
from simgap.report.parts.pair_prices import pair_prices_plot
from simgap.report.plots import BarPlot, Curve, CurvePlot, Plot, short_names
from simgap.report.shown_number import ShownNumber, certainty_of, quiet, show

TRACKS = "tracks the posterior"  # the policy to run


def oracle_plots(
    record: Oracle, others: Mapping[str, BaselinePolicy], anchor: str
) -> tuple[Plot, ...]:
    """Return the figures that a record has numbers for."""
    plots = (
        _policies(record, others, f"{anchor}-policies"),
        _per_model(record, f"{anchor}-models"),
        pair_prices_plot(
            [each.name for each in record.models],
            record.pair_prices,
            record.noise,
            f"{anchor}-pairs",
        ),
        _trace(record, f"{anchor}-trace"),
    )
    return tuple(plot for plot in plots if plot is not None)


def _policies(
    record: Oracle, others: Mapping[str, BaselinePolicy], key: str
) -> BarPlot | None:
    def lost(gap: Interval | None) -> ShownNumber:
        return quiet(show(gap), record.noise)

    rest = [(name, lost(each.average_gap)) for name, each in others.items()]
    bars = [
        ("best possible", lost(record.average_gap)),
        (TRACKS, lost(record.estimated_gap)),
        *sorted(rest, key=lambda bar: (bar[1].value or 0.0, bar[0])),
    ]
    drawn = tuple((name, each) for name, each in bars if each.drawable)
    title = "What each policy loses, on average over all models"
    return BarPlot(key, title, "average gap", drawn) if drawn else None


def _per_model(record: Oracle, key: str) -> BarPlot | None:
    sure = certainty_of(record.certainty.get("gap"))
    if not record.models:
        return None
    return BarPlot(
        key,
        "What the policy planned by the oracle loses, if this model is real",
        "gap",
        tuple(
            (name, quiet(show(each.gap, certainty=sure), record.noise))
            for name, each in zip(
                short_names([each.name for each in record.models]),
                record.models,
                strict=True,
            )
        ),
        ranges=tuple(each.gap_interval.ends for each in record.models),
        range_name="range over all policies of the least average loss",
    )


def _trace(record: Oracle, key: str) -> CurvePlot | None:
    points = record.trace
    if len(points) < 2:
        return None
    upper = tuple((each.seconds, each.upper, each.upper, each.upper) for each in points)
    lower = tuple((each.seconds, each.lower, each.lower, each.lower) for each in points)
    return CurvePlot(
        key=key,
        title="How the bracket closed",
        x="seconds of planning",
        y="average gap",
        curves=(
            Curve("upper end", upper, "certified"),
            Curve("lower end", lower, "certified"),
        ),
        log_x=points[0].seconds > 0.0,
        stairs=True,
    )
