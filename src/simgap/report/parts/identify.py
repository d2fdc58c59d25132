"""How fast models are told apart: pair by pair, and the posterior over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import final

from simgap.records.files import damaged_record
from simgap.records.identify import Identify, ModelPair, Timeline
from simgap.records.note import Note
from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.plots import CurvePlot, short_names, shown_curve
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, certainty_of, show
from simgap.text import counted, number, shown, without_parameters

GROUP = "How fast models are told apart"
MOST_MODELS = 48  # in the map
MOST_CURVES = 12
MOST_PLACES = 6  # steps in the table of the timeline
LATE = 200.0  # last step over first, above which time is logarithmic


@final
@dataclass(frozen=True, slots=True)
class IdentifyContent:
    """Everything the template draws about identification."""

    headline: str
    error: str
    notes: tuple[Note, ...]


def identify_part(record: Identify, anchor: str) -> Part:
    """Return the part of `identify.json`."""
    slowest = _slowest(record)
    steps = NOTHING if slowest is None else show(slowest.steps)
    plots = (
        _timeline(record, f"{anchor}-timeline"),
        _map(record.names, record.pairs, f"{anchor}-pairs"),
    )
    words = "" if slowest is None else " from ".join(_names(slowest))
    length = "no horizon" if record.horizon is None else f"{record.horizon} steps"
    return Part(
        group=GROUP,
        template="identify.html",
        anchor=anchor,
        title="Steps to tell one model from another",
        line=Line(
            what="identify",
            about=f"{counted(len(record.names), 'model')}, {length}",
            answer="",
            mood="plain",
            key_name=f"steps to tell {words}" if words else "",
            key=steps,
        ),
        content=IdentifyContent(
            headline=_headline(slowest, steps),
            error=f"{number(100.0 * record.error, 3)} %",
            notes=record.notes,
        ),
        origin=origin_of(record),
        plots=tuple(plot for plot in plots if plot is not None),
        sheets=(_sheet(record, f"{anchor}-table-1"),) if record.pairs else (),
        instead=(_believed(record.timeline, anchor),) if record.timeline else (),
        cards=()
        if steps.value is None
        else (Card("identify", steps.text, steps.certainty, f"steps to tell {words}"),),
        certainties=certainties_of(
            record, (f"steps to tell {words}", steps), kind="identify", gaps=False
        ),
    )


def _slowest(record: Identify) -> ModelPair | None:
    if record.slowest is None or not record.pairs:
        return None
    if not 0 <= record.slowest < len(record.pairs):
        raise damaged_record(record.slowest, f"one of {len(record.pairs)} pairs")
    return record.pairs[record.slowest]


def _names(pair: ModelPair, width: int = 40) -> tuple[str, str]:
    return shown(pair.first_name, width), shown(pair.second_name, width)


def _where(pair: ModelPair) -> str:
    """Return the state and the action at which two models differ, in words."""
    found = (pair.action_name, pair.state_name)
    return " in ".join(shown(each, 40) for each in found if each is not None)


def _headline(slowest: ModelPair | None, steps: ShownNumber) -> str:
    if slowest is None or steps.value is None:
        return ""
    first, second = _names(slowest)
    where = _where(slowest)
    at = f" They differ most by {where}." if where else ""
    if slowest.steps.lower == inf:
        return f"{first} and {second} can never be told apart.{at}"
    slow = "take longest to tell apart"
    return f"{first} and {second} {slow}: {steps.text} steps.{at}"


def _timeline(record: Identify, key: str) -> CurvePlot | None:
    timeline = record.timeline
    if timeline is None:
        return None
    for model in timeline.models:
        if len(model.posterior) != len(timeline.steps):
            raise damaged_record(
                len(model.posterior), f"{len(timeline.steps)} points of a posterior"
            )
    kept = spread_out(len(timeline.models), MOST_CURVES)
    curves = [
        shown_curve(
            shown(timeline.models[at].name),
            [
                (float(step), show(each))
                for step, each in zip(
                    timeline.steps, timeline.models[at].posterior, strict=True
                )
            ],
            certainty_of(record.certainty.get("timeline")),
        )
        for at in kept
    ]
    drawn = tuple(each for each in curves if each.points)
    if not drawn:
        return None
    first, last = timeline.steps[0], timeline.steps[-1]
    return CurvePlot(
        key=key,
        title="Posterior of the real model over time",
        x="step",
        y="probability of the real model",
        curves=drawn,
        log_x=first > 0 and last > LATE * first,
        note="Each curve is a model that is real; at 1 the agent knows it."
        + _left_out(len(kept), len(timeline.models)),
    )


def _believed(timeline: Timeline, anchor: str) -> Sheet:
    """Return the probability of the real model at some steps: the figure has all."""
    places = spread_out(len(timeline.steps), MOST_PLACES)
    return sheet(
        f"{anchor}-table-2",
        "Probability that the oracle gives to the real model, on average",
        [
            Heading("real model"),
            *(Heading(f"step {timeline.steps[at]}") for at in places),
        ],
        [
            (
                shown(each.name, 60),
                *(
                    show(each.posterior[at], digits=4)
                    if at >= timeline.computed
                    else show(each.posterior[at].estimate, certainty="certified")
                    for at in places
                ),
            )
            for each in timeline.models
        ],
    )


def _map(names: Sequence[str], pairs: Sequence[ModelPair], key: str) -> HeatPlot | None:
    """Return steps for every pair, the upper end: what is certainly enough."""
    found: dict[tuple[int, int], ShownNumber] = {}
    for pair in pairs:
        if not 0 <= pair.first < len(names) > pair.second >= 0:
            raise damaged_record(
                (pair.first, pair.second), f"two of {len(names)} models"
            )
        steps = replace(show(pair.steps), value=pair.steps.upper)
        found[pair.first, pair.second] = found[pair.second, pair.first] = steps
    kept = spread_out(len(names), MOST_MODELS)
    if len(names) < 2 or not found:
        return None
    short, what = without_parameters([shown(name) for name in names])
    labels = short_names([short[at] for at in kept])
    by = f", by {shown(what, 40)}" if what else ""
    return HeatPlot(
        key=key,
        title="Steps that are enough to tell two models apart",
        row_axis="one model" + by,
        column_axis="the other" + by,
        value="steps",
        rows=labels,
        columns=labels,
        cells=tuple(tuple(found.get((i, j), NOTHING) for j in kept) for i in kept),
        note="A cell shows the upper end: steps that are certainly enough."
        + _left_out(len(kept), len(names)),
        column_word="or",
    )


def _left_out(drawn: int, whole: int) -> str:
    return f" {drawn} of {whole} models are drawn." if drawn < whole else ""


def _sheet(record: Identify, key: str) -> Sheet:
    ranked = sorted(record.pairs, key=lambda pair: pair.steps.upper, reverse=True)
    headings = (
        Heading("one model"),
        Heading("the other"),
        Heading("they differ most by"),
        Heading("distance there", certainty_of(record.certainty.get("distance"))),
        Heading("visits needed", certainty_of(record.certainty.get("visits"))),
        Heading("steps"),
    )
    rows = [
        (
            *_names(each, 60),
            _where(each),
            show(each.distance, certainty=""),
            show(each.visits, certainty=""),
            show(each.steps),
        )
        for each in ranked
    ]
    return sheet(key, "Every pair, the slowest first", headings, rows)
