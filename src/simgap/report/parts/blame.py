"""Blame: which hidden parameter causes the loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from simgap.intervals import Interval
from simgap.records.blame import Blame, BlamedParameter, LossAtValue
from simgap.records.note import Note
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.parts.pair_prices import pair_prices_plot
from simgap.report.plots import BarPlot, CurvePlot, shown_curve
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import ShownNumber, certainty_of, evaluated, show
from simgap.text import counted, percent_of, shown

GROUP = "What causes the loss"
MOST_CURVES = 6  # parameters with a figure of their own


@final
@dataclass(frozen=True, slots=True)
class BlameContent:
    """Everything the template draws about blame."""

    headline: str
    about: str
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]
    undrawn: int  # parameters whose curve is not drawn


def blame_part(record: Blame, anchor: str) -> Part:
    """Return the part of `blame.json`."""
    noise = 10.0 * record.rounding
    ranked = sorted(record.parameters, key=lambda each: -each.share.middle)
    whole = show(record.whole, noise=noise)
    curves = _curves(record, ranked, noise, anchor)
    first = ranked[0] if ranked else None
    name = "" if first is None else shown(first.name, 40)
    share = show(None if first is None else first.share, noise=noise)
    sure = evaluated(certainty_of(record.certainty.get("ignored_whole")))
    plots = (
        _bars(ranked, noise, f"{anchor}-shares"),
        _ignored_bars(ranked, noise, f"{anchor}-plan"),
        *curves,
        pair_prices_plot(record.names, record.pair_prices, noise, f"{anchor}-pairs"),
    )
    return Part(
        group=GROUP,
        template="blame.html",
        anchor=anchor,
        title="Hidden parameters and what they cost",
        line=Line(
            what="blame",
            about=f"{counted(len(ranked), 'parameter')}, {record.horizon} steps",
            answer=f"most: {name}" if (share.value or 0.0) > 0.0 else "",
            mood="plain",
            key_name=f"loss that {name} causes" if name else "",
            key=share,
        ),
        content=BlameContent(
            headline=record.headline,
            about=_about(record),
            facts=(
                ("average loss of the best agent", whole),
                (
                    "average loss of the nominal plan",
                    show(record.ignored_whole, certainty=sure, noise=noise),
                ),
            ),
            notes=record.notes,
            undrawn=sum(bool(each.curve) for each in ranked) - len(curves),
        ),
        origin=origin_of(record),
        plots=tuple(plot for plot in plots if plot is not None),
        sheets=(_sheet(ranked, noise, f"{anchor}-table-1"),) if ranked else (),
        cards=() if first is None else (_card(first, name, share),),
        certainties=certainties_of(
            record,
            ("average loss of the best agent", whole),
            *(
                (f"share of {shown(each.name, 40)}", show(each.share, noise=noise))
                for each in ranked
            ),
            kind="blame",
            least=whole,
        ),
    )


def _about(record: Blame) -> str:
    """Return how shares were found, and what the nominal plan is."""
    over = (
        "all sets of parameters"
        if record.method == "exact"
        else f"{record.permutations or 'some'} random orders"
    )
    return (
        f"Shares are Shapley values over {over}. Nominal here is "
        f"{shown(record.nominal, 80)}: the nominal plan is the best one for it alone, "
        "put in all models."
    )


def _card(first: BlamedParameter, name: str, share: ShownNumber) -> Card:
    if not share.value or share.value <= 0.0:
        return Card("blame", "none", share.certainty, "nothing is lost")
    words = f"causes {share.text}"
    if first.part is not None:
        words = percent_of(*first.part.ends, 1.0, "of the best agent's loss")
    return Card("blame", name, share.certainty, words)


def _bars(ranked: Sequence[BlamedParameter], noise: float, key: str) -> BarPlot | None:
    title = "What not knowing each parameter costs the best agent"
    what = "share of the best agent's loss"
    return _bar_plot(ranked, lambda each: each.share, noise, (key, title, what))


def _ignored_bars(
    ranked: Sequence[BlamedParameter], noise: float, key: str
) -> BarPlot | None:
    title = "What ignoring each parameter costs the nominal plan"
    what = "share of the nominal plan's loss"
    return _bar_plot(ranked, lambda each: each.ignored, noise, (key, title, what))


def _bar_plot(
    ranked: Sequence[BlamedParameter],
    value: Callable[[BlamedParameter], Interval | None],
    noise: float,
    words: tuple[str, str, str],
) -> BarPlot | None:
    found = [(shown(each.name, 40), show(value(each), noise=noise)) for each in ranked]
    bars = tuple((name, each) for name, each in found if each.drawable)
    note = _on_negative([each for _, each in bars])
    return BarPlot(*words, bars, note=note) if bars else None


def _on_negative(found: Sequence[ShownNumber]) -> str:
    """Return what a share below 0 means, if there is one."""
    if all((each.upper or 0.0) >= 0.0 for each in found):
        return ""
    return (
        "A share below 0: as this parameter leaves its nominal value, the plan loses "
        "less on average, not more. Shares add up to the whole loss of the plan."
    )


def _curves(
    record: Blame, ranked: Sequence[BlamedParameter], noise: float, anchor: str
) -> tuple[CurvePlot, ...]:
    """Return one figure for each of the parameters that cost most, over its values."""
    lines: tuple[tuple[str, str, Callable[[LossAtValue], Interval | float]], ...] = (
        ("told", "agent that knows the value", lambda point: point.told),
        ("loss", "policy that was planned, not knowing it", lambda point: point.loss),
    )
    made: list[CurvePlot] = []
    for at, parameter in enumerate(ranked[:MOST_CURVES], start=1):
        points = [
            (each.value, each)
            for each in parameter.curve
            if not isinstance(each.value, str)
        ]
        if len(points) < 2:
            continue
        name = shown(parameter.name, 40)
        drawn = [
            shown_curve(
                words,
                [(value, show(get(each), noise=noise)) for value, each in points],
                evaluated(certainty_of(record.certainty.get(field))),
            )
            for field, words, get in lines
        ]
        made.append(
            CurvePlot(
                key=f"{anchor}-curve-{at}",
                title=f"Where {name} has one value",
                x=name,
                y="average gap there",
                curves=tuple(curve for curve in drawn if curve.points),
            )
        )
    return tuple(each for each in made if each.curves)


def _sheet(ranked: Sequence[BlamedParameter], noise: float, key: str) -> Sheet:
    headings = (
        Heading("parameter"),
        Heading("values", "exact"),
        Heading("share of the loss"),
        Heading("part of the whole"),
        Heading("loss if only it is hidden"),
        Heading("what knowing it is worth"),
        Heading("share of the nominal plan's loss"),
    )
    ignored = [show(each.ignored, noise=noise) for each in ranked]
    rows: list[tuple[Cell, ...]] = [
        (
            each.name,
            show(each.values, certainty=""),
            show(each.share, noise=noise),
            show(each.part),
            show(each.alone, noise=noise),
            show(each.information, noise=noise),
            last,
        )
        for each, last in zip(ranked, ignored, strict=True)
    ]
    return sheet(key, "Every parameter", headings, rows, note=_on_negative(ignored))
