"""Blame: which hidden parameter causes the loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.records import PairPrices, as_record
from simgap.report.part import Card, Line, Part, notes_of, origin_of, surety_of
from simgap.report.parts.pair_prices import pair_prices_plot
from simgap.report.plots import BarPlot, Curve, CurvePlot, Plot, told_curve
from simgap.report.reading import as_list, as_object, as_objects, as_text, known, number
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, evaluated, told
from simgap.text import counted, percent_of, shown

GROUP = "What causes the loss"
MOST_CURVES = 6  # parameters with a figure of their own


@final
@dataclass(frozen=True, slots=True)
class BlameContent:
    """Everything the template draws about blame."""

    headline: str
    about: str
    facts: tuple[tuple[str, Told], ...]
    notes: tuple[str, ...]
    undrawn: int  # parameters whose curve is not drawn


def blame_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `blame.json`."""
    parameters = as_objects(record.get("parameters"))
    ranked = sorted(parameters, key=lambda each: -_size(told(each.get("share"))))
    noise = 10.0 * number(record["rounding"]) if known(record, "rounding") else 0.0
    whole = told(record.get("whole"), noise=noise)
    curves = _curves(record, ranked, noise, anchor)
    first = ranked[0] if ranked else None
    name = "" if first is None else shown(as_text(first.get("name")) or "?", 40)
    share = NOTHING if first is None else told(first.get("share"), noise=noise)
    return Part(
        group=GROUP,
        template="blame.html",
        anchor=anchor,
        title="Hidden parameters and what they cost",
        line=Line(
            what="blame",
            about=f"{counted(len(parameters), 'parameter')}, "
            f"{as_text(record.get('horizon')) or '?'} steps",
            answer=f"most: {name}" if name and _size(share) > 0.0 else "",
            mood="plain",
            key_name=f"loss that {name} causes" if share is not NOTHING else "",
            key=share,
        ),
        content=BlameContent(
            headline=as_text(record.get("headline"))
            or _headline(first, name, share, whole),
            about=_about(record),
            facts=tuple(
                (what, each)
                for what, each in (
                    ("average loss of the best agent", whole),
                    (
                        "average loss of the nominal plan",
                        told(
                            record.get("ignored_whole"),
                            certainty=_word(record),
                            noise=noise,
                        ),
                    ),
                )
                if each is not NOTHING
            ),
            notes=notes_of(record),
            undrawn=max(0, sum(bool(as_list(p.get("curve"))) for p in ranked))
            - len(curves),
        ),
        origin=origin_of(record),
        plots=_plots(record, ranked, curves, noise, anchor),
        sheets=(_sheet(ranked, noise, f"{anchor}-table-1"),) if ranked else (),
        cards=() if first is None else _cards(first, name, share),
        surety=surety_of(
            record,
            ("average loss of the best agent", whole),
            *(
                (
                    f"share of {shown(as_text(p.get('name')) or '?', 40)}",
                    told(p.get("share"), noise=noise),
                )
                for p in ranked
            ),
            kind="blame",
            least=whole,
        ),
    )


def _size(found: Told) -> float:
    return 0.0 if found.value is None else found.value


def _word(record: Mapping[str, Any]) -> str:
    word = as_object(record.get("certainty")).get("ignored_whole")
    return evaluated(certainty_of(word))


def _about(record: Mapping[str, Any]) -> str:
    """Return how shares were found, and what the nominal plan is."""
    method = as_text(record.get("method"))
    count = as_text(record.get("permutations"))
    how = {
        "exact": "Shares are Shapley values over all sets of parameters.",
        "sampled": f"Shares are Shapley values over {count or 'some'} random orders.",
    }.get(method, "")
    nominal = as_text(record.get("nominal"))
    plan = (
        f" Nominal here is {shown(nominal, 80)}: the nominal plan is the best "
        "one for it alone, put in all models."
        if nominal
        else ""
    )
    return how + plan


def _headline(
    first: Mapping[str, Any] | None, name: str, share: Told, whole: Told
) -> str:
    if first is None or share.value is None:
        return ""
    if share.value <= 0.0:
        return "No hidden parameter costs anything."
    part = told(first.get("part"))
    share_of = percent_of(part.lower, part.upper, 1.0, "of it")
    of = f", {share_of}" if share_of else ""
    total = f" of {whole.text}" if whole.value is not None else ""
    return f"Not knowing {name} causes most of the loss: {share.text}{total}{of}."


def _cards(first: Mapping[str, Any], name: str, share: Told) -> tuple[Card, ...]:
    if not name or share.value is None:
        return ()
    if share.value <= 0.0:
        return (Card("blame", "none", share.certainty, "nothing is lost"),)
    part = told(first.get("part"))
    words = percent_of(part.lower, part.upper, 1.0, "of the best agent's loss")
    words = words or f"causes {share.text}"
    return (Card("blame", name, share.certainty, words),)


def _plots(
    record: Mapping[str, Any],
    ranked: Sequence[Mapping[str, Any]],
    curves: Sequence[CurvePlot],
    noise: float,
    anchor: str,
) -> tuple[Plot, ...]:
    names = [as_text(each) or "?" for each in as_list(record.get("names"))]
    prices = as_object(record.get("pair_prices"))
    plots = (
        _bars(
            ranked, "share", "share of the best agent's loss", noise, f"{anchor}-shares"
        ),
        _bars(
            ranked,
            "ignored",
            "share of the nominal plan's loss",
            noise,
            f"{anchor}-plan",
        ),
        *curves,
        None
        if not prices
        else pair_prices_plot(
            names,
            as_record(prices, PairPrices, "pair_prices"),
            noise,
            f"{anchor}-pairs",
        ),
    )
    return tuple(plot for plot in plots if plot is not None)


def _bars(
    ranked: Sequence[Mapping[str, Any]], field: str, what: str, noise: float, key: str
) -> BarPlot | None:
    found = [
        (
            shown(as_text(each.get("name")) or "?", 40),
            told(each.get(field), noise=noise),
        )
        for each in ranked
    ]
    bars = tuple((name, each) for name, each in found if each.drawable)
    if not bars:
        return None
    titles = {
        "share": "What not knowing each parameter costs the best agent",
        "ignored": "What ignoring each parameter costs the nominal plan",
    }
    return BarPlot(key, titles[field], what, bars, note=_below(bars))


def _below(bars: Sequence[tuple[str, Told]]) -> str:
    """Return what a share below 0 means, if there is one."""
    if all((each.upper or 0.0) >= 0.0 for _, each in bars):
        return ""
    return (
        "A share below 0: as this parameter leaves its nominal value, the plan loses "
        "less on average, not more. Shares add up to the whole loss of the plan."
    )


def _curves(
    record: Mapping[str, Any],
    ranked: Sequence[Mapping[str, Any]],
    noise: float,
    anchor: str,
) -> tuple[CurvePlot, ...]:
    """Return one figure for each of the dearest parameters: one value at a time."""
    sure = as_object(record.get("certainty"))
    made = []
    for at, parameter in enumerate(ranked[:MOST_CURVES], start=1):
        points = [
            each
            for each in as_objects(parameter.get("curve"))
            if isinstance(each.get("value"), int | float)
        ]
        if len(points) < 2:
            continue
        name = shown(as_text(parameter.get("name")) or "?", 40)
        lines = (
            _line(points, "told", "agent that is told the value", sure, noise),
            _line(points, "loss", "policy that was planned, not told", sure, noise),
        )
        drawn = tuple(line for line in lines if line.points)
        if drawn:
            made.append(
                CurvePlot(
                    key=f"{anchor}-curve-{at}",
                    title=f"Where {name} has one value",
                    x=name,
                    y="average gap there",
                    curves=drawn,
                )
            )
    return tuple(made)


def _line(
    points: Sequence[Mapping[str, Any]],
    field: str,
    name: str,
    sure: Mapping[str, Any],
    noise: float,
) -> Curve:
    word = evaluated(certainty_of(sure.get(field, sure.get("curve"))))
    found = [
        (number(each.get("value")), told(each.get(field), noise=noise))
        for each in points
    ]
    return told_curve(name, found, word)


def _sheet(ranked: Sequence[Mapping[str, Any]], noise: float, key: str) -> Sheet:
    headings = (
        Heading("parameter"),
        Heading("values", "exact"),
        Heading("share of the loss"),
        Heading("part of the whole"),
        Heading("loss if only it is hidden"),
        Heading("what telling it is worth"),
        Heading("share of the nominal plan's loss"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            as_text(each.get("name")) or "?",
            told(each.get("values"), certainty=""),
            *(
                told(each.get(field), noise=0.0 if field == "part" else noise)
                for field in ("share", "part", "alone", "information", "ignored")
            ),
        )
        for each in ranked
    ]
    ignored = [("", told(each.get("ignored"), noise=noise)) for each in ranked]
    return sheet(key, "Every parameter", headings, rows, note=_below(ignored))
