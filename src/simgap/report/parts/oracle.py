"""The oracle: will it transfer? Verdict, who loses what, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.records import number
from simgap.report.part import Card, Line, Part, origin_of, surety_of
from simgap.report.parts.memory_card import memory_cards
from simgap.report.parts.oracle_plots import average_gap, oracle_plots
from simgap.report.reading import (
    as_object,
    as_objects,
    as_text,
    bounds_of,
    known,
)
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.told import NOTHING, Told, certainty_of, quiet, told
from simgap.report.words import between, counted, percent, shown
from simgap.report.words import number as number_shown

GROUP = "The best agent there can be"
INFORMED = "informed"  # the yardstick itself: it loses nothing by definition
NEGLIGIBLE = 1e-9  # of what could be had: nothing, in words


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
    average = quiet(told(record.get("average_gap")), noise)
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
            about=f"{counted(len(models), 'model')}, {_length(record)}",
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
            estimated=quiet(told(record.get("estimated_gap")), noise),
            worst=quiet(
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
        plots=oracle_plots(record, others, noise, anchor),
        sheets=tuple(each for each in sheets if each is not None),
        cards=_cards(record, average, noise),
        surety=surety_of(
            record,
            ("average gap", average),
            ("gap of the policy to run", told(record.get("estimated_gap"))),
        ),
    )


def _cards(record: Mapping[str, Any], average: Told, noise: float) -> tuple[Card, ...]:
    cards = []
    if average.value is not None:
        words = "average loss of the best agent that is not told the model"
        cards.append(Card("transfer", average.text, average.certainty, words))
    cards += memory_cards(record, None, noise)
    return tuple(cards)


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
    found = quiet(told(record.get("estimated_gap"), digits=4), noise)
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
        return replace(quiet(found, least), certainty="")

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
            quiet(told(record.get("estimated_gap")), noise),
            NOTHING,
            "the one to run: acts on what it believes",
        ),
    ]
    for name, each in others.items():
        label = certainty_of(each.get("certainty"))
        worst = quiet(told(each.get("worst_gap"), certainty=label), noise)
        lost = quiet(average_gap(each), noise)
        rows.append((name, lost, worst, as_text(each.get("about"))))
    headings = (
        Heading("policy"),
        Heading("average gap"),
        Heading("worst gap"),
        Heading("what it is"),
    )
    return sheet(key, "What simpler policies lose", headings, rows)
