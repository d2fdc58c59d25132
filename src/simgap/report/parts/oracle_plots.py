"""Figures of the oracle: policies, models, pairs, and how the bracket closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simgap.records import PairPrices, as_record
from simgap.report.parts.pair_prices import pair_prices_plot
from simgap.report.parts.policy_names import TRACKS
from simgap.report.plots import BarPlot, Curve, CurvePlot, Plot, short_names
from simgap.report.reading import as_object, as_objects, as_text, known, number
from simgap.report.shown_number import Told, certainty_of, evaluated, quiet, told


def oracle_plots(
    record: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    noise: float,
    anchor: str,
) -> tuple[Plot, ...]:
    """Return the figures that a record has numbers for."""
    models = as_objects(record.get("models"))
    sure = certainty_of(as_object(record.get("certainty")).get("gap"))
    prices = as_object(record.get("pair_prices"))
    plots = (
        _policies(record, others, noise, f"{anchor}-policies"),
        _per_model(models, noise, sure, f"{anchor}-models"),
        None
        if not prices
        else pair_prices_plot(
            [as_text(each.get("name")) or "?" for each in models],
            as_record(prices, PairPrices, "pair_prices"),
            noise,
            f"{anchor}-pairs",
        ),
        _trace(as_objects(record.get("trace")), f"{anchor}-trace"),
    )
    return tuple(plot for plot in plots if plot is not None)


def average_gap(baseline: Mapping[str, Any]) -> Told:
    """Return what a simpler policy loses; two ends say themselves how sure it is."""
    word = evaluated(certainty_of(baseline.get("certainty")))
    return told(baseline.get("average_gap"), certainty=word)


def _policies(
    record: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    noise: float,
    key: str,
) -> BarPlot | None:
    def lost(found: Told) -> Told:
        return quiet(found, noise)

    bars = [("best possible", lost(told(record.get("average_gap"))))]
    bars.append((TRACKS, lost(told(record.get("estimated_gap")))))
    rest = [(name, lost(average_gap(each))) for name, each in others.items()]
    bars += sorted(rest, key=lambda bar: (bar[1].value or 0.0, bar[0]))
    drawn = tuple((name, each) for name, each in bars if each.drawable)
    if not drawn:
        return None
    return BarPlot(
        key, "What each policy loses, on average over all models", "average gap", drawn
    )


def _per_model(
    models: Sequence[Mapping[str, Any]],
    noise: float,
    sure: str,
    key: str,
) -> BarPlot | None:
    bars = tuple(
        (name, each)
        for name, each in zip(
            short_names([as_text(m.get("name")) or "?" for m in models]),
            (_gap(m, noise, sure) for m in models),
            strict=True,
        )
        if each.drawable
    )
    if not bars:
        return None
    return BarPlot(
        key,
        "What the policy planned by the oracle loses, if this model is real",
        "gap",
        bars,
        note="Lines span what any policy of the least average loss may lose there.",
    )


def _gap(model: Mapping[str, Any], noise: float, certainty: str) -> Told:
    """Return a gap with the ends that hold the gap of every optimal policy."""
    found = quiet(told(model.get("gap"), certainty=certainty), noise)
    ends = told(model.get("gap_interval"))
    if found.value is None or ends.lower is None or ends.upper is None:
        return found
    return replace(
        found, lower=min(found.value, ends.lower), upper=max(found.value, ends.upper)
    )


def _trace(points: Sequence[Mapping[str, Any]], key: str) -> CurvePlot | None:
    found = [
        (number(each["seconds"]), number(each["lower"]), number(each["upper"]))
        for each in points
        if all(known(each, end) for end in ("seconds", "lower", "upper"))
    ]
    if len(found) < 2:
        return None
    return CurvePlot(
        key=key,
        title="How the bracket closed",
        x="seconds of planning",
        y="average gap",
        curves=(
            Curve("upper end", tuple((t, b, b, b) for t, _, b in found), "certified"),
            Curve("lower end", tuple((t, a, a, a) for t, a, _ in found), "certified"),
        ),
        log_x=found[0][0] > 0.0,
        stairs=True,
    )
