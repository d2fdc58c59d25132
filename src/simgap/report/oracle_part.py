"""The part of a page about the oracle: verdict, who loses what, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.records import Certified, number
from simgap.report.figures import Figure, bar_figure
from simgap.report.heat_map import HeatMap, heat_map
from simgap.report.reading import (
    as_list,
    as_object,
    as_objects,
    as_table,
    bounds_of,
    known,
)
from simgap.report.trace_figure import TraceFigure, trace_figure
from simgap.report.words import bracket, clean, shown
from simgap.report.words import number as number_shown


@final
@dataclass(frozen=True, slots=True)
class LossColumn:
    """What one policy loses in every model."""

    title: str
    certainty: str
    cells: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class OraclePart:
    """Everything the template draws about the oracle."""

    headline: str
    points: tuple[str, ...]
    policies: Figure | None
    pairs: HeatMap | None
    trace: TraceFigure | None
    names: tuple[str, ...]
    columns: tuple[LossColumn, ...]
    about: tuple[tuple[str, str, str], ...]  # policy, certainty, what it is


def oracle_part(
    record: Mapping[str, Any], timings: Mapping[str, Any], words: Sequence[str]
) -> OraclePart | None:
    """Return what a record says about the oracle; None if it says nothing.

    `words` are the known labels of certainty; any other becomes "unlabelled".
    """
    if not known(record, "average_gap"):
        return None
    models = as_objects(record.get("models"))
    names = [str(each.get("name", "?")) for each in models]
    certainty = as_object(record.get("certainty"))

    def sure(word: object) -> str:
        return str(word) if word in words else "unlabelled"

    baselines = {
        str(name): as_object(each)
        for name, each in as_object(record.get("baselines")).items()
    }
    labels = {name: sure(each.get("certainty")) for name, each in baselines.items()}
    verdict = as_object(record.get("verdict"))
    return OraclePart(
        headline=clean(str(verdict.get("headline", ""))),
        points=tuple(clean(str(each)) for each in as_list(verdict.get("points"))),
        policies=_policies(record, baselines, labels, sure(certainty.get("gap"))),
        pairs=_pairs(names, as_object(record.get("pair_prices"))),
        trace=_trace(timings),
        names=tuple(shown(name) for name in names),
        columns=_columns(models, baselines, labels, sure(certainty.get("gap"))),
        about=tuple(
            (shown(name), labels[name], _about(each))
            for name, each in baselines.items()
        ),
    )


def _policies(
    record: Mapping[str, Any],
    baselines: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],
    certified: str,
) -> Figure | None:
    rows = [("best possible", bounds_of(record["average_gap"]), certified)]
    if known(record, "estimated_gap"):
        estimate = bounds_of(record["estimated_gap"])
        rows.append(("tracks the posterior", estimate, "estimated"))
    for name, each in baselines.items():
        if known(each, "average_gap"):
            gap = number(each["average_gap"])
            rows.append((name, Certified(gap, gap), labels[name]))
    rows[2:] = sorted(rows[2:], key=lambda row: (row[1].upper or 0.0, row[0]))
    return bar_figure(
        "policies",
        "What each policy loses",
        [(name, bounds) for name, bounds, _ in rows],
        unit="average gap over all models",
        certainty="",
        sures=[word for _, _, word in rows],
    )


def _pairs(names: Sequence[str], prices: Mapping[str, Any]) -> HeatMap | None:
    lower = as_table(prices.get("lower"), len(names))
    upper = as_table(prices.get("upper"), len(names))
    if lower is None or upper is None:
        return None
    return heat_map(names, lower, upper)


def _trace(timings: Mapping[str, Any]) -> TraceFigure | None:
    return trace_figure(
        [
            (number(each["seconds"]), number(each["lower"]), number(each["upper"]))
            for each in as_objects(timings.get("trace"))
            if all(known(each, key) for key in ("seconds", "lower", "upper"))
        ]
    )


def _columns(
    models: Sequence[Mapping[str, Any]],
    baselines: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],
    certified: str,
) -> tuple[LossColumn, ...]:
    columns = []
    for field, title, digits in (
        ("optimal", "V*", 6),
        ("value", "value", 6),
        ("gap", "gap", 4),
    ):
        if any(known(each, field) for each in models):
            cells = tuple(_number(each.get(field), digits) for each in models)
            columns.append(LossColumn(title, certified, cells))
    if any(known(each, "relative_gap") for each in models):
        cells = tuple(_percent(each.get("relative_gap")) for each in models)
        columns.append(LossColumn("gap, % of V*", certified, cells))
    if any(known(each, "gap_interval") for each in models):
        cells = tuple(
            bracket(bounds_of(each.get("gap_interval")), 4) for each in models
        )
        columns.append(LossColumn("gap, any optimal policy", certified, cells))
    for name, each in baselines.items():
        lost = as_objects(each.get("models"))
        if len(lost) == len(models):
            cells = tuple(_number(one.get("gap"), 4) for one in lost)
            columns.append(LossColumn(f"gap, {shown(name, 30)}", labels[name], cells))
    return tuple(columns)


def _about(baseline: Mapping[str, Any]) -> str:
    parts = [str(baseline.get(key) or "") for key in ("about", "note")]
    return clean("; ".join(part for part in parts if part))


def _number(value: Any, digits: int) -> str:
    return "-" if value is None else number_shown(number(value), digits)


def _percent(value: Any) -> str:
    return "-" if value is None else f"{100.0 * number(value):.3g}"
