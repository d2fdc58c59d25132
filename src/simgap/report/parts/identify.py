"""How fast models are told apart: pair by pair, and the posterior over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, final

from simgap.records import number
from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.part import Card, Line, Part, notes_of, origin_of, surety_of
from simgap.report.plots import CurvePlot, short_names, told_curve
from simgap.report.reading import as_list, as_object, as_objects, as_text, not_ours
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, told
from simgap.report.words import (
    counted,
    number as number_shown,
    shown,
    without_parameters,
)

GROUP = "How fast models are told apart"
MOST_MODELS = 48  # in the map
MOST_CURVES = 12
LATE = 200.0  # last step over first, above which time is logarithmic


@final
@dataclass(frozen=True, slots=True)
class IdentifyContent:
    """Everything the template draws about identification."""

    headline: str
    error: str
    notes: tuple[str, ...]


def identify_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `identify.json`."""
    names = [as_text(each) or "?" for each in as_list(record.get("names"))]
    pairs = as_objects(record.get("pairs"))
    sure = as_object(record.get("certainty"))
    slowest = _slowest(record, pairs)
    steps = NOTHING if slowest is None else told(slowest.get("steps"))
    plots = (
        _timeline(as_object(record.get("timeline")), sure, f"{anchor}-timeline"),
        _map(names, pairs, f"{anchor}-pairs"),
    )
    words = "" if slowest is None else " from ".join(_pair(slowest))
    return Part(
        group=GROUP,
        template="identify.html",
        anchor=anchor,
        title="Steps to tell one model from another",
        line=Line(
            what="identify",
            about=f"{counted(len(names), 'model')}, "
            f"{as_text(record.get('horizon')) or '?'} steps",
            answer="",
            mood="plain",
            key_name=f"steps to tell {words}" if words else "",
            key=steps,
        ),
        content=IdentifyContent(
            headline=_headline(slowest, steps),
            error=_error(record),
            notes=notes_of(record),
        ),
        origin=origin_of(record),
        plots=tuple(plot for plot in plots if plot is not None),
        sheets=(_sheet(pairs, sure, f"{anchor}-table-1"),) if pairs else (),
        cards=()
        if steps.value is None
        else (Card("identify", steps.text, steps.certainty, f"steps to tell {words}"),),
        surety=surety_of(
            record, (f"steps to tell {words}", steps), kind="identify", gaps=False
        ),
    )


def _slowest(
    record: Mapping[str, Any], pairs: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    at = record.get("slowest")
    if at is None or not pairs:
        return None
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < len(pairs):
        raise not_ours(at, f"one of {len(pairs)} pairs")
    return pairs[at]


def _pair(pair: Mapping[str, Any], width: int = 40) -> tuple[str, str]:
    first, second = (as_text(pair.get(f"{end}_name")) for end in ("first", "second"))
    return shown(first or "?", width), shown(second or "?", width)


def _where(pair: Mapping[str, Any]) -> str:
    """Return the state and the action at which two models differ, in words."""
    found = [
        shown(as_text(pair.get(f"{what}_name")) or as_text(pair.get(what)), 40)
        for what in ("action", "state")
        if pair.get(what) is not None
    ]
    return " in ".join(found)


def _headline(slowest: Mapping[str, Any] | None, steps: Told) -> str:
    if slowest is None or steps.value is None:
        return ""
    first, second = _pair(slowest)
    where = _where(slowest)
    at = f" They differ most by {where}." if where else ""
    if not isfinite(steps.lower or 0.0):
        return f"{first} and {second} can never be told apart.{at}"
    slow = "take longest to tell apart"
    return f"{first} and {second} {slow}: {steps.text} steps.{at}"


def _error(record: Mapping[str, Any]) -> str:
    share = told(record.get("error"), certainty="").value
    return "" if share is None else f"{number_shown(100.0 * share, 3)} %"


def _timeline(
    timeline: Mapping[str, Any], sure: Mapping[str, Any], key: str
) -> CurvePlot | None:
    steps = [number(each) for each in as_list(timeline.get("steps"))]
    models = as_objects(timeline.get("models"))
    for model in models:
        count = len(as_list(model.get("posterior")))
        if count != len(steps):
            raise not_ours(count, f"{len(steps)} points of a posterior")
    kept = spread_out(len(models), MOST_CURVES)
    word = certainty_of(sure.get("timeline", sure.get("posterior")))
    curves = [
        told_curve(
            shown(as_text(models[at].get("name")) or "?"),
            [
                (step, told(each))
                for step, each in zip(
                    steps, as_list(models[at].get("posterior")), strict=True
                )
            ],
            word,
        )
        for at in kept
    ]
    drawn = tuple(each for each in curves if each.points)
    if not drawn:
        return None
    left = f" {len(kept)} of {len(models)} models are drawn." * (
        len(kept) < len(models)
    )
    positive = [step for step in steps if step > 0.0]
    return CurvePlot(
        key=key,
        title="Posterior of the real model over time",
        x="step",
        y="probability of the real model",
        curves=drawn,
        log_x=len(positive) == len(steps) and steps[-1] > LATE * steps[0],
        note="Each curve is a model that is real; at 1 the agent knows it." + left,
    )


def _map(
    names: Sequence[str], pairs: Sequence[Mapping[str, Any]], key: str
) -> HeatPlot | None:
    """Return steps for every pair, the upper end: what is certainly enough."""
    found: dict[tuple[int, int], Told] = {}
    for pair in pairs if names else ():
        at = _index(pair.get("first"), names), _index(pair.get("second"), names)
        steps = told(pair.get("steps"))
        if steps.upper is not None:
            found[at] = found[at[::-1]] = replace(steps, value=steps.upper)
    kept = spread_out(len(names), MOST_MODELS)
    if len(names) < 2 or not found:
        return None
    short, what = without_parameters([shown(name) for name in names])
    labels = short_names([short[at] for at in kept])
    by = f", by {shown(what, 40)}" if what else ""
    left = f" {len(kept)} of {len(names)} models are drawn." * (len(kept) < len(names))
    return HeatPlot(
        key=key,
        title="Steps that are enough to tell two models apart",
        row_axis="one model" + by,
        column_axis="the other" + by,
        value="steps",
        rows=labels,
        columns=labels,
        cells=tuple(tuple(found.get((i, j), NOTHING) for j in kept) for i in kept),
        note="A cell shows the upper end: steps that are certainly enough." + left,
        column_word="or",
    )


def _index(at: Any, names: Sequence[str]) -> int:
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < len(names):
        raise not_ours(at, f"one of {len(names)} models")
    return at


def _sheet(
    pairs: Sequence[Mapping[str, Any]], sure: Mapping[str, Any], key: str
) -> Sheet:
    ranked = sorted(pairs, key=_slowness, reverse=True)

    def plain(pair: Mapping[str, Any], field: str) -> Told:
        return replace(told(pair.get(field), certainty=""), certainty="")

    headings = (
        Heading("one model"),
        Heading("the other"),
        Heading("they differ most by"),
        Heading("distance there", certainty_of(sure.get("distance"))),
        Heading("visits needed", certainty_of(sure.get("visits"))),
        Heading("steps"),
    )
    rows = [
        (
            *_pair(each, 60),
            _where(each),
            plain(each, "distance"),
            plain(each, "visits"),
            told(each.get("steps")),
        )
        for each in ranked
    ]
    return sheet(key, "Every pair, the slowest first", headings, rows)


def _slowness(pair: Mapping[str, Any]) -> float:
    upper = told(pair.get("steps")).upper
    return -1.0 if upper is None else upper
