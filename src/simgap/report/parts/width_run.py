"""How wide to randomize a simulator: what every part of the ranges gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

from simgap.records.note import Note
from simgap.records.width_run import WidthReturns, WidthRun
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.parts.transfer_words import worst_number
from simgap.report.plots import Curve, CurvePlot, shown_curve
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import ShownNumber, show
from simgap.text import counted, number, shown

GROUP = "How wide to randomize"
MOODS = {"recommended": "plain", "undecided": "open"}
Get = Callable[[WidthReturns], ShownNumber]


@final
@dataclass(frozen=True, slots=True)
class WidthRunContent:
    """Everything the template draws about widths of a simulator's ranges."""

    headline: str
    mood: str
    reason: str
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]


def width_run_part(record: WidthRun, anchor: str) -> Part:
    """Return the part of `width_run.json`."""
    wanted = _wanted(record)
    best = next(each for each in record.widths if each.width == record.best)
    return Part(
        group=GROUP,
        template="width_run.html",
        anchor=anchor,
        title="Parts of the ranges",
        line=Line(
            what="width",
            about=f"{counted(len(record.widths), 'width')} of "
            f"{shown(record.randomize, 60)}",
            answer=wanted,
            mood=MOODS[record.outcome],
            key_name="mean return of the best width",
            key=show(best.mean, digits=4),
        ),
        content=WidthRunContent(
            headline=f"{wanted}.",
            mood=MOODS[record.outcome],
            reason=record.reason,
            facts=_facts(record),
            notes=record.notes,
        ),
        origin=replace(origin_of(record), randomized=shown(record.randomize)),
        plots=(
            _returns(record, f"{anchor}-returns"),
            _behind(record, f"{anchor}-behind"),
        ),
        sheets=(_sheet(record, f"{anchor}-table-1"),),
        cards=(Card("width", wanted, "estimated", record.reason),),
        certainties=certainties_of(
            record,
            *(
                (f"mean return of width {number(each.width, 3)}", show(each.mean))
                for each in record.widths
            ),
            kind="width_run",
            gaps=False,
        ),
    )


def _wanted(record: WidthRun) -> str:
    if record.recommended is None:
        return "Undecided"
    if record.recommended == 0.0:
        return "Do not randomize"
    if record.recommended == 1.0:
        return "Randomize all of the ranges"
    return f"Randomize {number(100.0 * record.recommended, 3)} % of the ranges"


def _facts(record: WidthRun) -> tuple[tuple[str, ShownNumber], ...]:
    steps, total = record.steps, record.training_steps
    found = (
        ("random actions, mean return", show(record.random, digits=4)),
        (
            "good enough: so much less than the best",
            show(record.spare, certainty="estimated", digits=3),
        ),
        ("trainings of each width", show(record.trainings, certainty="exact")),
        ("steps behind each policy", show(steps, certainty="exact", digits=12)),
        ("steps of training in all", show(total, certainty="exact", digits=12)),
        ("episodes measured", show(record.episodes, certainty="exact", digits=12)),
    )
    return tuple((name, each) for name, each in found if each.value is not None)


RETURNS: tuple[tuple[str, Get], ...] = (
    ("mean over all of the ranges", lambda each: show(each.mean)),
    ("mean over its own part", lambda each: show(each.inside)),
    ("mean beyond the ranges", lambda each: show(each.beyond)),
    ("worst point of the ranges", lambda each: worst_number(each.worst)),
)
LOSSES: tuple[tuple[str, Get], ...] = (
    ("another training would do", lambda each: show(each.behind)),
    ("these very policies", lambda each: show(each.evaluation)),
)


def _curves(record: WidthRun, lines: tuple[tuple[str, Get], ...]) -> tuple[Curve, ...]:
    found = (
        shown_curve(name, [(each.width, get(each)) for each in record.widths])
        for name, get in lines
    )
    return tuple(each for each in found if each.points)


def _returns(record: WidthRun, key: str) -> CurvePlot:
    curves = _curves(record, RETURNS)
    return CurvePlot(
        key=key,
        title="What training on a part of the ranges gets",
        x="part of the ranges that was trained on",
        y="return of an episode",
        curves=curves,
        note="All policies met the same points, starts and noise. Beyond: "
        f"{number(record.beyond, 3)} times the ranges. Intervals allow for other "
        "training seeds.",
        marks=_marks(record),
    )


def _behind(record: WidthRun, key: str) -> CurvePlot:
    curves = _curves(record, LOSSES)
    slack = tuple((each.width, *(record.spare,) * 3) for each in record.widths)
    first = replace(curves[0], name="good enough", points=slack, bound=True)
    return CurvePlot(
        key=key,
        title="What every width gets less than the best one",
        x="part of the ranges that was trained on",
        y="behind the best width",
        curves=(*curves, first),
        note="A width is enough if its whole interval is below the dashed line. What "
        "these very policies lose leaves out that trainings differ.",
        marks=_marks(record),
    )


def _marks(record: WidthRun) -> tuple[tuple[float, str], ...]:
    if record.recommended is None:
        return ()
    return ((record.recommended, f"recommended: {number(record.recommended, 3)}"),)


def _sheet(record: WidthRun, key: str) -> Sheet:
    headings = (
        Heading("width", "exact"),
        Heading("trained on"),
        Heading("all ranges"),
        Heading("worst point"),
        Heading("its own part"),
        Heading("beyond"),
        Heading("behind the best"),
        Heading("seeds differ by"),
        Heading("within the slack"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            show(each.width, certainty=""),
            each.randomize,
            show(each.mean, digits=4),
            worst_number(each.worst),
            show(each.inside, digits=4),
            show(each.beyond, digits=4),
            show(each.behind, digits=4),
            show(each.seed_spread, certainty="estimated", digits=3),
            each.verdict,
        )
        for each in record.widths
    ]
    return sheet(key, "Every width", headings, rows)
