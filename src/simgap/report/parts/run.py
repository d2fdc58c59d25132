"""An agent in its real models: regret against steps, and what was lost where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.report.part import Line, Part, origin_of
from simgap.report.plots import Curve, CurvePlot
from simgap.report.reading import as_list, as_object, as_objects, as_text, number
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, told
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
    speed: Told
    literal: bool
    notes: tuple[str, ...]


def run_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `run.json`."""
    models = as_objects(record.get("models"))
    sure = as_object(record.get("certainty"))
    policy = shown(as_text(record.get("policy")) or "?")
    worst = max(
        ((told(each.get("gap")), each) for each in models),
        key=lambda pair: -1.0 if pair[0].value is None else pair[0].value,
        default=(NOTHING, {"name": ""}),
    )
    where = shown(as_text(worst[1].get("name")) or "?", 40)
    return Part(
        group=GROUP,
        template="run.html",
        anchor=anchor,
        title=f"What {policy} loses while it learns",
        line=Line(
            what=policy,
            about=as_text(record.get("about")),
            answer="",
            mood="plain",
            key_name=f"largest gap, if {where} is real" if models else "",
            key=worst[0],
        ),
        content=RunContent(
            about=as_text(record.get("about")),
            horizon=as_text(record.get("horizon")) or "?",
            seeds=as_text(record.get("seeds")) or "?",
            speed=told(record.get("steps_per_second"), digits=3),
            literal=record.get("literal") is True,
            notes=tuple(as_text(each) for each in as_list(record.get("notes"))),
        ),
        origin=origin_of(record),
        plots=_plots(models, f"{anchor}-figure-1", sure.get("curve")),
        sheets=(_sheet(models, f"{anchor}-table-1", sure),) if models else (),
    )


def _plots(
    models: Sequence[Mapping[str, Any]], key: str, sure: Any
) -> tuple[CurvePlot, ...]:
    curves = [
        Curve(
            name=shown(as_text(each.get("name")) or "?"),
            points=tuple(
                (
                    number(point.get("step")),
                    number(point.get("estimate")),
                    number(point.get("lower")),
                    number(point.get("upper")),
                )
                for point in as_objects(each.get("curve"))
            ),
            certainty=certainty_of(sure),
        )
        for each in models
    ]
    curves = [each for each in curves if each.points]
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


def _sheet(
    models: Sequence[Mapping[str, Any]], key: str, sure: Mapping[str, Any]
) -> Sheet:
    def word(field: str) -> str:
        return certainty_of(sure.get(field))

    def plain(model: Mapping[str, Any], field: str) -> Told:
        return told(model.get(field), certainty="", digits=6)

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
            as_text(each.get("name")) or "?",
            plain(each, "optimal"),
            _unlabelled(told(each.get("gap"))),
            _unlabelled(told(each.get("regret"))),
            plain(each, "truth_eliminated"),
            plain(each, "switches"),
            plain(each, "identified"),
        )
        for each in models
    ]
    return sheet(key, "Numbers by real model", headings, rows)


def _unlabelled(found: Told) -> Told:
    """Return the number without its label: the head of the column has it."""
    from dataclasses import replace

    return replace(found, certainty="")
