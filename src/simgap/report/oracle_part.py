"""The part of a page about the oracle: verdict, who loses what, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.records import number
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
from simgap.report.words import (
    clean,
    gap_bracket,
    gap_number,
    shown,
    without_common_part,
)

INFORMED = "informed"  # the yardstick itself: it loses nothing by definition


@final
@dataclass(frozen=True, slots=True)
class LossColumn:
    """A column of the table of the certified policy."""

    title: str
    certainty: str
    cells: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What one policy loses: on average, at worst, and in every model."""

    name: str
    certainty: str
    about: str
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
    short_names: tuple[str, ...]  # without what all of them begin with
    what: str  # that beginning, if there is one
    others: tuple[PolicyRow, ...]


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
        if name != INFORMED
    }
    labels = {name: sure(each.get("certainty")) for name, each in baselines.items()}
    verdict = as_object(record.get("verdict"))
    short, what = without_common_part([shown(name) for name in names])
    noise = 10.0 * number(record["rounding"]) if known(record, "rounding") else 0.0
    return OraclePart(
        headline=clean(str(verdict.get("headline", ""))),
        points=tuple(clean(str(each)) for each in as_list(verdict.get("points"))),
        policies=_policies(record, baselines, labels, sure(certainty.get("gap"))),
        pairs=_pairs(names, as_object(record.get("pair_prices"))),
        trace=_trace(timings),
        names=tuple(shown(name) for name in names),
        columns=_columns(models, noise, sure(certainty.get("gap"))),
        short_names=tuple(short),
        what=what,
        others=tuple(
            _row(name, labels[name], each, noise)
            for name, each in baselines.items()
            if len(as_list(each.get("models"))) == len(models)
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
            rows.append((name, bounds_of(each["average_gap"]), labels[name]))
    rows[2:] = sorted(rows[2:], key=lambda row: (row[1].upper or 0.0, row[0]))
    return bar_figure(
        "policies",
        "What each policy loses",
        [(name, bounds) for name, bounds, _ in rows],
        unit="average gap over all models",
        certainty="",
        digits=3,
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
    models: Sequence[Mapping[str, Any]], noise: float, certified: str
) -> tuple[LossColumn, ...]:
    columns = []
    for field, title, least, digits in (
        ("optimal", "V*", 0.0, 6),
        ("value", "value", 0.0, 6),
        ("gap", "gap", noise, 4),
    ):
        if any(known(each, field) for each in models):
            cells = tuple(_gap(each.get(field), least, digits) for each in models)
            columns.append(LossColumn(title, certified, cells))
    if any(known(each, "relative_gap") for each in models):
        cells = tuple(_percent(each, noise) for each in models)
        columns.append(LossColumn("gap, % of V*", certified, cells))
    if any(known(each, "gap_interval") for each in models):
        cells = tuple(
            gap_bracket(bounds_of(each.get("gap_interval")), noise, 4)
            for each in models
        )
        columns.append(LossColumn("gap, any optimal policy", certified, cells))
    return tuple(columns)


def _row(
    name: str, certainty: str, baseline: Mapping[str, Any], noise: float
) -> PolicyRow:
    lost = [
        baseline.get("average_gap"),
        baseline.get("worst_gap"),
        *(each.get("gap") for each in as_objects(baseline["models"])),
    ]
    return PolicyRow(
        name=shown(name),
        certainty=certainty,
        about=_about(baseline),
        cells=tuple(_gap(each, noise, 3) for each in lost),
    )


def _about(baseline: Mapping[str, Any]) -> str:
    parts = [str(baseline.get(key) or "") for key in ("about", "note")]
    return clean("; ".join(part for part in parts if part))


def _gap(value: Any, noise: float, digits: int) -> str:
    if isinstance(value, Mapping):  # an estimate, with its interval
        return gap_bracket(bounds_of(value), noise, digits)
    return "-" if value is None else gap_number(number(value), noise, digits)


def _percent(model: Mapping[str, Any], noise: float) -> str:
    if not known(model, "relative_gap"):
        return "-"
    small = known(model, "gap") and number(model["gap"]) <= noise
    return "0" if small else f"{100.0 * number(model['relative_gap']):.3g}"
