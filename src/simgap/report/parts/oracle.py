"""The oracle: will it transfer? Verdict, who loses what, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.records import number
from simgap.report.part import Line, Part, origin_of
from simgap.report.plots import BarPlot, Curve, CurvePlot, HeatPlot, short_names
from simgap.report.reading import (
    as_object,
    as_objects,
    as_table,
    as_text,
    bounds_of,
    known,
)
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.told import NOTHING, Told, certainty_of, told
from simgap.report.words import between, percent, shown, without_common_part
from simgap.report.words import number as number_shown

GROUP = "Will it transfer?"
INFORMED = "informed"  # the yardstick itself: it loses nothing by definition
NEGLIGIBLE = 1e-9  # of what could be had: nothing, in words
MOST_PAIRED = 60  # models in the heat map of pairs


@final
@dataclass(frozen=True, slots=True)
class OracleContent:
    """Everything the template draws about the oracle."""

    headline: str
    points: tuple[str, ...]
    average: Told
    value: Told
    informed: Told
    estimated: Told
    worst: Told
    solver: str
    outcome: str
    notes: tuple[tuple[str, str], ...]  # of simpler policies


def oracle_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `oracle.json`."""
    models = as_objects(record.get("models"))
    noise = 10.0 * number(record["rounding"]) if known(record, "rounding") else 0.0
    sure = as_object(record.get("certainty"))
    others = {
        shown(str(name)): as_object(each)
        for name, each in as_object(record.get("baselines")).items()
        if name != INFORMED
    }
    average = _quiet(told(record.get("average_gap")), noise)
    plots = [
        _policies(average, record, others, noise, f"{anchor}-policies"),
        _per_model(models, noise, sure, f"{anchor}-models"),
        _pairs(models, as_object(record.get("pair_prices")), f"{anchor}-pairs"),
        _trace(as_objects(record.get("trace")), f"{anchor}-trace"),
    ]
    sheets = (
        _models(models, noise, sure, f"{anchor}-table-1"),
        _others(average, record, others, noise, f"{anchor}-table-2"),
    )
    model = as_text(as_object(record.get("provenance")).get("model"))
    return Part(
        group=GROUP,
        template="oracle.html",
        anchor=anchor,
        title=shown(model, 120) if model else "The oracle",
        line=Line(
            what="oracle",
            about=f"{len(models)} models, {_length(record)}",
            answer=as_text(record.get("outcome")),
            mood="plain",
            key_name="average loss of the best agent" if average.text != "-" else "",
            key=average,
        ),
        content=OracleContent(
            headline=_headline(record, average),
            points=_points(record, models, noise),
            average=average,
            value=told({key: record.get(key) for key in ("lower", "upper")}),
            informed=told(record.get("informed"), certainty="certified"),
            estimated=_quiet(told(record.get("estimated_gap")), noise),
            worst=_quiet(
                told(
                    record.get("worst_gap"),
                    certainty=certainty_of(sure.get("worst_gap")),
                ),
                noise,
            ),
            solver=as_text(record.get("solver")),
            outcome=as_text(record.get("outcome")),
            notes=tuple(
                (name, as_text(each.get("note")))
                for name, each in others.items()
                if each.get("note")
            ),
        ),
        origin=origin_of(record),
        plots=tuple(plot for plot in plots if plot is not None),
        sheets=tuple(each for each in sheets if each is not None),
    )


def _quiet(found: Told, noise: float) -> Told:
    """Return a gap whose text is 0 if rounding alone may have made it."""
    small = found.upper is not None and abs(found.upper) <= noise
    return replace(found, text="0", detail="") if small else found


def _length(record: Mapping[str, Any]) -> str:
    if record.get("horizon") is not None:
        return f"{as_text(record['horizon'])} steps"
    discount = as_text(record.get("discount"))
    return f"discount {discount}" if discount else "no length in the record"


def _headline(record: Mapping[str, Any], average: Told) -> str:
    if average.value is None:
        return ""
    bounds = bounds_of(record["average_gap"])
    lost = "nothing" if average.text == "0" else between(bounds, 4)
    whole = record.get("informed")
    return (
        "The best agent that does not know which model is real loses "
        f"{lost} on average"
        + (
            ""
            if whole is None or average.text == "0"
            else percent(bounds, number(whole))
        )
        + "."
    )


def _points(
    record: Mapping[str, Any], models: Sequence[Mapping[str, Any]], noise: float
) -> tuple[str, ...]:
    points = []
    gaps = [
        (number(each["gap"]), each)
        for each in models
        if known(each, "gap") and not isinstance(each["gap"], Mapping)
    ]
    if gaps:
        most, where = max(gaps, key=lambda pair: pair[0])
        if most > noise:
            name = shown(as_text(where.get("name")) or "?")
            points.append(
                f"It loses most if {name} is real: {number_shown(most, 4)}"
                + (
                    f" of {number_shown(number(where['optimal']), 4)}."
                    if known(where, "optimal")
                    else "."
                )
            )
    found = _quiet(told(record.get("estimated_gap"), digits=4), noise)
    if found.value is not None:
        points.append(
            "The policy to run tracks which model is likely; it loses "
            f"{found.text} on average (estimated{_in(found)})."
        )
    for key, what in (
        ("value_of_memory", "Memory"),
        ("value_of_randomization", "Training on all models instead of one"),
    ):
        if known(record, key):
            points.append(f"{what} is worth {_worth(record, key)} (certified).")
    return tuple(points)


def _worth(record: Mapping[str, Any], key: str) -> str:
    bounds, whole = bounds_of(record[key]), told(record.get("informed")).value
    small = NEGLIGIBLE * abs(whole) if whole is not None else 0.0
    if bounds.upper is not None and bounds.upper <= small:
        return f"nothing, at most {number_shown(bounds.upper, 2)}"
    return between(bounds, 4)


def _in(found: Told) -> str:
    return f", {found.detail}" if found.detail else ""


def _policies(
    average: Told,
    record: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    noise: float,
    key: str,
) -> BarPlot | None:
    bars = [("best possible", average)]
    bars.append(
        ("tracks the posterior", _quiet(told(record.get("estimated_gap")), noise))
    )
    rest = [(name, _quiet(_average(each), noise)) for name, each in others.items()]
    bars += sorted(rest, key=lambda bar: (bar[1].value or 0.0, bar[0]))
    drawn = tuple((name, each) for name, each in bars if each.drawable)
    if not drawn:
        return None
    return BarPlot(
        key, "What each policy loses, on average over all models", "average gap", drawn
    )


def _average(baseline: Mapping[str, Any]) -> Told:
    """Return what a simpler policy loses, labelled as its record labels it."""
    found = told(baseline.get("average_gap"))
    if found.value is None or found.certainty == "estimated":
        return found
    return replace(found, certainty=certainty_of(baseline.get("certainty")))


def _per_model(
    models: Sequence[Mapping[str, Any]],
    noise: float,
    sure: Mapping[str, Any],
    key: str,
) -> BarPlot | None:
    bars = tuple(
        (name, each)
        for name, each in zip(
            short_names([as_text(m.get("name")) or "?" for m in models]),
            (_gap(m, noise, certainty_of(sure.get("gap"))) for m in models),
            strict=True,
        )
        if each.drawable
    )
    if not bars:
        return None
    return BarPlot(
        key,
        "What the certified policy loses, if this model is real",
        "gap",
        bars,
        note="Lines span the gaps of all optimal policies, where they differ.",
    )


def _gap(model: Mapping[str, Any], noise: float, certainty: str) -> Told:
    """Return a gap with the ends that hold the gap of every optimal policy."""
    found = _quiet(told(model.get("gap"), certainty=certainty), noise)
    ends = told(model.get("gap_interval"))
    if found.value is None or ends.lower is None or ends.upper is None:
        return found
    return replace(
        found, lower=min(found.value, ends.lower), upper=max(found.value, ends.upper)
    )


def _pairs(
    models: Sequence[Mapping[str, Any]], prices: Mapping[str, Any], key: str
) -> HeatPlot | None:
    names = [as_text(each.get("name")) or "?" for each in models]
    lower = as_table(prices.get("lower"), len(names))
    upper = as_table(prices.get("upper"), len(names))
    if lower is None or upper is None or len(names) < 2:
        return None
    count = min(len(names), MOST_PAIRED)
    short, what = without_common_part([shown(name) for name in names])
    labels = short_names(short[:count])
    by = f", by {shown(what, 40)}" if what else ""
    left = f" {len(names) - count} more models are in the record." * (
        count < len(names)
    )
    return HeatPlot(
        key=key,
        title="What it costs not to know one model from another",
        row_axis="one model" + by,
        column_axis="the other" + by,
        value="price of the pair",
        rows=labels,
        columns=labels,
        cells=tuple(
            tuple(
                NOTHING
                if i == j
                else told(
                    {"lower": lower[i][j], "upper": max(lower[i][j], upper[i][j])}
                )
                for j in range(count)
            )
            for i in range(count)
        ),
        note="The price of a pair is what the best agent loses on average if only "
        "these two models are possible." + left,
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


def _models(
    models: Sequence[Mapping[str, Any]],
    noise: float,
    sure: Mapping[str, Any],
    key: str,
) -> Sheet | None:
    if not models:
        return None

    def plain(model: Mapping[str, Any], field: str, least: float = 0.0) -> Told:
        found = told(model.get(field), digits=6)
        return replace(_quiet(found, least), certainty="")

    def word(field: str) -> str:
        return certainty_of(sure.get(field))

    return sheet(
        key,
        "The certified policy, if this model is real",
        (
            Heading("real model"),
            Heading("prior", "exact"),
            Heading("V*", word("optimal")),
            Heading("value", word("value")),
            Heading("gap", word("gap")),
            Heading("gap, part of V*", word("gap")),
            Heading("gap of any optimal policy", word("gap_interval")),
        ),
        [
            (
                as_text(each.get("name")) or "?",
                plain(each, "prior"),
                plain(each, "optimal"),
                plain(each, "value"),
                plain(each, "gap", noise),
                plain(each, "relative_gap", noise / _size(each)),
                plain(each, "gap_interval", noise),
            )
            for each in models
        ],
    )


def _size(model: Mapping[str, Any]) -> float:
    found = told(model.get("optimal")).value
    return abs(found) if found else 1.0


def _others(
    average: Told,
    record: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    noise: float,
    key: str,
) -> Sheet | None:
    if not others:
        return None
    rows: list[tuple[str | Told, ...]] = [
        ("best possible", average, NOTHING, "knows the models, not which is real"),
        (
            "tracks the posterior",
            _quiet(told(record.get("estimated_gap")), noise),
            NOTHING,
            "the one to run: acts on what it believes",
        ),
    ]
    for name, each in others.items():
        label = certainty_of(each.get("certainty"))
        worst = _quiet(told(each.get("worst_gap"), certainty=label), noise)
        lost = _quiet(_average(each), noise)
        rows.append((name, lost, worst, as_text(each.get("about"))))
    headings = (
        Heading("policy"),
        Heading("average gap"),
        Heading("worst gap"),
        Heading("what it is"),
    )
    return sheet(key, "What simpler policies lose", headings, rows)
