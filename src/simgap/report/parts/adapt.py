"""What real transitions say: the posterior, the parameters, and what no model fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from simgap.records.adapt import Adapt, AdaptedModel, Moments
from simgap.records.note import Note
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.plots import BarPlot
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, certainty_of, show
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
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]


def adapt_part(record: Adapt, anchor: str) -> Part:
    """Return the part of `adapt.json`."""
    ranked = sorted(record.posterior, key=_likely, reverse=True)
    outside = record.outside_class
    before = show(record.gap_bound_before)
    noise = ROUNDING * abs(record.gap_bound_before.upper)
    after = show(record.gap_bound_after, noise=noise)
    chance = _chance(record, ranked[0]) if ranked else NOTHING
    name = shown(ranked[0].name, 40) if ranked else ""
    about = f"{record.transitions} transitions in {record.episodes} episodes"
    bars = _bars(record, ranked, f"{anchor}-posterior")
    sheets = (
        _models(record, ranked, f"{anchor}-table-1"),
        _parameters(record, f"{anchor}-table-2"),
        _misfit(record, f"{anchor}-table-3"),
    )
    return Part(
        group=GROUP,
        template="adapt.html",
        anchor=anchor,
        title="The class in the light of real transitions",
        line=Line(
            what="adapt",
            about=about,
            answer="outside the class" if outside else "",
            mood="bad" if outside else "plain",
            key_name=f"posterior of {name}" if chance is not NOTHING else "",
            key=chance,
        ),
        content=AdaptContent(
            headline=_headline(name, chance, outside),
            about=about,
            outside=_outside(record) if outside else "",
            facts=tuple(
                (what, each)
                for what, each in (
                    ("bound on the gap before", before),
                    ("bound on the gap after", after),
                )
                if each is not NOTHING and not outside  # they presuppose the class
            ),
            notes=record.notes,
        ),
        origin=origin_of(record),
        plots=() if bars is None else (bars,),
        sheets=tuple(each for each in sheets if each is not None),
        cards=_cards(outside),
        certainties=certainties_of(
            record,
            ("average loss before the data", before),
            ("average loss after the data", after),
            kind="adapt",
        ),
    )


def _headline(name: str, chance: ShownNumber, outside: bool) -> str:
    if chance.value is None:
        return ""
    if outside:
        return f"No model fits; the nearest is {name}."
    return f"Most likely is {name}: {chance.text}."


def _likely(model: AdaptedModel) -> tuple[float, float]:
    chance = model.probability
    return float("-inf") if chance is None else chance, model.log_likelihood


def _chance(record: Adapt, model: AdaptedModel) -> ShownNumber:
    word = certainty_of(record.certainty.get("posterior"))
    return show(model.probability, certainty=word, digits=4)


def _outside(record: Adapt) -> str:
    return (
        "No model of the class explains these transitions, so nothing on this page "
        "holds for the system they come from. If some model did, this alarm would be "
        f"raised with probability at most {number_shown(record.false_alarm, 3)}. "
        "Widen the class first."
    )


def _cards(outside: bool) -> tuple[Card, ...]:
    if not outside:
        return ()
    words = "real transitions are outside the class: nothing here holds for them"
    return (Card("warning", "Outside the class", "", words),)


def _bars(record: Adapt, ranked: Sequence[AdaptedModel], key: str) -> BarPlot | None:
    found = [
        (shown(each.name, 40), _chance(record, each), each.prior) for each in ranked
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


def _models(record: Adapt, ranked: Sequence[AdaptedModel], key: str) -> Sheet | None:
    if not ranked:
        return None
    likely = certainty_of(record.certainty.get("posterior"))
    fit = certainty_of(record.certainty.get("p_value"))
    lost = certainty_of(record.certainty.get("gap_bound_before"))
    columns = (
        (Heading("before", likely), [each.prior for each in ranked]),
        (Heading("after", likely), [each.probability for each in ranked]),
        (Heading("log-likelihood", likely), [each.log_likelihood for each in ranked]),
        (Heading("p-value of the fit", fit), [each.p_value for each in ranked]),
        (Heading("gap of the old plan", lost), [each.gap_before for each in ranked]),
        (Heading("gap of the new plan", lost), [each.gap_after for each in ranked]),
    )
    some = [each for each in columns if any(value is not None for value in each[1])]
    rows: list[tuple[Cell, ...]] = [
        (model.name, *(_plain(values[at]) for _, values in some))
        for at, model in enumerate(ranked)
    ]
    headings = [Heading("model"), *(heading for heading, _ in some)]
    return sheet(key, "Every model, the likeliest first", headings, rows)


def _plain(value: float | None) -> ShownNumber:
    return show(value, certainty="", digits=4)


def _parameters(record: Adapt, key: str) -> Sheet | None:
    if not record.parameters:
        return None
    word = certainty_of(record.certainty.get("parameters"))
    headings = [
        Heading("parameter"),
        *(
            Heading(f"{name} {when}", word)
            for when in ("before", "after")
            for name in ("mean", "spread")
        ),
    ]
    rows: list[tuple[Cell, ...]] = [
        (each.name, *_spread(each.before), *_spread(each.after))
        for each in record.parameters
    ]
    return sheet(key, "What is known about each parameter", headings, rows)


def _spread(found: Moments | None) -> tuple[ShownNumber, ShownNumber]:
    if found is None:
        return NOTHING, NOTHING
    return _plain(found.mean), _plain(found.sd)


def _misfit(record: Adapt, key: str) -> Sheet | None:
    if not record.misfit:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            each.state_name or "?",
            each.action_name or "?",
            show(each.visits, certainty=""),
            each.text,
        )
        for each in record.misfit
    ]
    headings = (
        Heading("state"),
        Heading("action"),
        Heading("visits", "exact"),
        Heading("what does not fit"),
    )
    return sheet(key, "Where the class does not fit", headings, rows)
