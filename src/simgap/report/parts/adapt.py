"""What real transitions say: the posterior, the parameters, and what no model fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.report.part import Card, Line, Part, notes_of, origin_of, surety_of
from simgap.report.plots import BarPlot
from simgap.report.reading import as_object, as_objects, as_text
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, told
from simgap.text import number as number_shown, shown

GROUP = "What real data say"
ROUNDING = 1e-9  # of the gap before: 0 but for rounding
MOST_BARS = 30  # models in the figure, the likeliest


@final
@dataclass(frozen=True, slots=True)
class AdaptContent:
    """Everything the template draws about real data."""

    headline: str
    about: str
    outside: str  # a warning, empty if some model fits
    facts: tuple[tuple[str, Told], ...]
    notes: tuple[str, ...]


def adapt_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `adapt.json`."""
    posterior = as_objects(record.get("posterior"))
    sure = as_object(record.get("certainty"))
    ranked = sorted(posterior, key=_likely, reverse=True)
    outside = record.get("outside_class") is True
    before = told(record.get("gap_bound_before"))
    noise = ROUNDING * abs(before.upper or 0.0)
    after = told(record.get("gap_bound_after"), noise=noise)
    likeliest = ranked[0] if ranked else None
    chance = NOTHING if likeliest is None else _chance(likeliest, sure)
    name = "" if likeliest is None else shown(as_text(likeliest.get("name")) or "?", 40)
    bars = _bars(ranked, sure, f"{anchor}-posterior")
    sheets = (
        _models(ranked, sure, f"{anchor}-table-1"),
        _parameters(as_objects(record.get("parameters")), sure, f"{anchor}-table-2"),
        _misfit(as_objects(record.get("misfit")), f"{anchor}-table-3"),
    )
    return Part(
        group=GROUP,
        template="adapt.html",
        anchor=anchor,
        title="The class in the light of real transitions",
        line=Line(
            what="adapt",
            about=_about(record),
            answer="outside the class" if outside else "",
            mood="bad" if outside else "plain",
            key_name=f"posterior of {name}" if chance is not NOTHING else "",
            key=chance,
        ),
        content=AdaptContent(
            headline=_headline(name, chance, outside),
            about=_about(record),
            outside=_outside(record) if outside else "",
            facts=tuple(
                (what, each)
                for what, each in (
                    ("bound on the gap before", before),
                    ("bound on the gap after", after),
                )
                if each is not NOTHING and not outside  # they presuppose the class
            ),
            notes=notes_of(record),
        ),
        origin=origin_of(record),
        plots=() if bars is None else (bars,),
        sheets=tuple(each for each in sheets if each is not None),
        cards=_cards(outside),
        surety=surety_of(
            record,
            ("average loss before the data", before),
            ("average loss after the data", after),
            kind="adapt",
        ),
    )


def _headline(name: str, chance: Told, outside: bool) -> str:
    if chance.value is None:
        return ""
    if outside:
        return f"No model fits; the nearest is {name}."
    return f"Most likely is {name}: {chance.text}."


def _likely(model: Mapping[str, Any]) -> tuple[float, float]:
    ends = (told(model.get(key)).value for key in ("probability", "log_likelihood"))
    first, second = (float("-inf") if each is None else each for each in ends)
    return first, second


def _chance(model: Mapping[str, Any], sure: Mapping[str, Any]) -> Told:
    word = certainty_of(sure.get("probability", sure.get("posterior")))
    return told(model.get("probability"), certainty=word, digits=4)


def _about(record: Mapping[str, Any]) -> str:
    seen = as_text(record.get("transitions")) or "?"
    episodes = as_text(record.get("episodes"))
    return f"{seen} transitions" + (f" in {episodes} episodes" if episodes else "")


def _outside(record: Mapping[str, Any]) -> str:
    rate = told(record.get("false_alarm"), certainty="").value
    alarm = (
        ""
        if rate is None
        else f" If some model did, this alarm would be raised with probability at most "
        f"{number_shown(rate, 3)}."
    )
    return (
        "No model of the class explains these transitions, so nothing on this page "
        f"holds for the system they come from.{alarm} Widen the class first."
    )


def _cards(outside: bool) -> tuple[Card, ...]:
    if not outside:
        return ()
    words = "real transitions are outside the class: nothing here holds for them"
    return (Card("warning", "Outside the class", "", words),)


def _bars(
    ranked: Sequence[Mapping[str, Any]], sure: Mapping[str, Any], key: str
) -> BarPlot | None:
    found = [
        (
            shown(as_text(each.get("name")) or "?", 40),
            _chance(each, sure),
            told(each.get("prior")).value,
        )
        for each in ranked
    ]
    known = [each for each in found if each[1].drawable]
    if not known:
        return None
    drawn = known[:MOST_BARS]
    left = f" The {len(drawn)} likeliest of {len(known)} models are drawn." * (
        len(drawn) < len(known)
    )
    return BarPlot(
        key=key,
        title="How likely each model is, before and after",
        x="probability",
        bars=tuple((name, chance) for name, chance, _ in drawn),
        note="Bars are after the data, marks are before." + left,
        ticks=tuple(prior for _, _, prior in drawn),
        tick_name="before",
    )


def _models(
    ranked: Sequence[Mapping[str, Any]], sure: Mapping[str, Any], key: str
) -> Sheet | None:
    if not ranked:
        return None

    def plain(model: Mapping[str, Any], field: str) -> Told:
        return told(model.get(field), certainty="", digits=4)

    def word(field: str) -> str:
        whole = "gap_bound_before" if field.startswith("gap_") else "posterior"
        return certainty_of(sure.get(field, sure.get(whole)))

    every = (
        ("prior", "before"),
        ("probability", "after"),
        ("log_likelihood", "log-likelihood"),
        ("p_value", "p-value of the fit"),
        ("gap_before", "gap of the old plan"),
        ("gap_after", "gap of the new plan"),
    )
    fields = [
        pair for pair in every if any(each.get(pair[0]) is not None for each in ranked)
    ]
    headings = [Heading("model"), *(Heading(name, word(f)) for f, name in fields)]
    rows: list[tuple[Cell, ...]] = [
        (as_text(each.get("name")) or "?", *(plain(each, f) for f, _ in fields))
        for each in ranked
    ]
    return sheet(key, "Every model, the likeliest first", headings, rows)


def _parameters(
    parameters: Sequence[Mapping[str, Any]], sure: Mapping[str, Any], key: str
) -> Sheet | None:
    if not parameters:
        return None
    word = certainty_of(sure.get("parameters"))

    def plain(parameter: Mapping[str, Any], when: str, what: str) -> Told:
        found = as_object(parameter.get(when)).get(what)
        return told(found, certainty="", digits=4)

    headings = [
        Heading("parameter"),
        *(
            Heading(f"{name} {when}", word)
            for when in ("before", "after")
            for name in ("mean", "spread")
        ),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            as_text(each.get("name")) or "?",
            *(
                plain(each, when, what)
                for when in ("before", "after")
                for what in ("mean", "sd")
            ),
        )
        for each in parameters
    ]
    return sheet(key, "What is known about each parameter", headings, rows)


def _misfit(misfit: Sequence[Mapping[str, Any]], key: str) -> Sheet | None:
    if not misfit:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            as_text(each.get("state_name")) or as_text(each.get("state")) or "?",
            as_text(each.get("action_name")) or as_text(each.get("action")) or "?",
            told(each.get("visits"), certainty=""),
            as_text(each.get("text")),
        )
        for each in misfit
    ]
    headings = (
        Heading("state"),
        Heading("action"),
        Heading("visits", "exact"),
        Heading("what does not fit"),
    )
    return sheet(key, "Where the class does not fit", headings, rows)
