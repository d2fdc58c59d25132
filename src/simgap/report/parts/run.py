"""An agent in its real models: regret against steps, and what was lost where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.records.note import Note
from simgap.records.run import Run
from simgap.report.part import Line, Part, origin_of
from simgap.report.plots import Curve, CurvePlot
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, certainty_of, show
from simgap.text import shown

GROUP = "Agents in real models"
MOST_CURVES = 16  # as many as colours, dashes and markers tell apart in one figure


@final
@dataclass(frozen=True, slots=True)
class RunContent:
    """Everything the template draws about a run."""

    about: str
    horizon: str
    seeds: str
    speed: ShownNumber
    literal: bool
    notes: tuple[Note, ...]


def run_part(record: Run, anchor: str) -> Part:
    """Return the part of `run.json`."""
    policy = shown(record.policy)
    worst = max(record.models, key=lambda each: each.gap.estimate, default=None)
    return Part(
        group=GROUP,
        template="run.html",
        anchor=anchor,
        title=f"What {policy} loses while it learns",
        line=Line(
            what=policy,
            about=record.about,
            answer="",
            mood="plain",
            key_name=""
            if worst is None
            else f"largest gap, if {shown(worst.name, 40)} is real",
            key=NOTHING if worst is None else show(worst.gap),
        ),
        content=RunContent(
            about=record.about,
            horizon=str(record.horizon),
            seeds=str(record.seeds),
            speed=show(record.steps_per_second, digits=3),
            literal=record.literal,
            notes=record.notes,
        ),
        origin=origin_of(record),
        plots=_plots(record, f"{anchor}-figure-1"),
        sheets=(_sheet(record, f"{anchor}-table-1"),) if record.models else (),
    )


def _plots(record: Run, key: str) -> tuple[CurvePlot, ...]:
    curves = [
        Curve(
            name=shown(each.name),
            points=tuple(
                (float(point.step), point.estimate, point.lower, point.upper)
                for point in each.curve
            ),
            certainty=certainty_of(record.certainty.get("curve")),
        )
        for each in record.models
        if each.curve
    ]
    if not curves:
        return ()
    drawn = _spread(curves)
    note = "A line of slope 1 never learns; a flat one has settled."
    if len(curves) > len(drawn):
        note += (
            f" {len(drawn)} of {len(curves)} models are drawn, from the smallest "
            "regret to the largest."
        )
    positive = any(point[1] > 0.0 for each in drawn for point in each.points)
    return (
        CurvePlot(
            key=key,
            title="Regret against steps, if this is the real model",
            x="steps",
            y="regret",
            curves=tuple(drawn),
            log_x=all(point[0] > 0.0 for each in drawn for point in each.points),
            log_y=positive,
            note=note,
        ),
    )


def _spread(curves: Sequence[Curve]) -> list[Curve]:
    """Return curves to draw: all, or some evenly from the least to the dearest."""
    if len(curves) <= MOST_CURVES:
        return list(curves)
    ranked = sorted(range(len(curves)), key=lambda at: curves[at].points[-1][1])
    last = MOST_CURVES - 1
    kept = {ranked[k * (len(ranked) - 1) // last] for k in range(MOST_CURVES)}
    return [curve for at, curve in enumerate(curves) if at in kept]


def _sheet(record: Run, key: str) -> Sheet:
    def word(field: str) -> str:
        return certainty_of(record.certainty.get(field))

    headings = (
        Heading("real model"),
        Heading("V*", word("optimal")),
        Heading("gap", word("gap")),
        Heading("regret", word("regret")),
        Heading("runs that dropped it", word("truth_eliminated")),
        Heading("switches", word("switches")),
        Heading("settled at step", "estimated"),
    )
    rows = [
        (
            each.name,
            _unlabelled(each.optimal, digits=6),
            _unlabelled(each.gap),
            _unlabelled(each.regret),
            _unlabelled(each.truth_eliminated, digits=6),
            _unlabelled(each.switches, digits=6),
            _unlabelled(each.identified, digits=6),
        )
        for each in record.models
    ]
    return sheet(key, "Numbers by real model", headings, rows)


def _unlabelled(value: Any, digits: int = 5) -> ShownNumber:
    """Return a number without its label: the head of the column has it."""
    return replace(show(value, digits=digits), certainty="")
