"""How wide to randomize a parameter: what each range loses, and which is enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.part import Card, Line, Part, notes_of, origin_of, surety_of
from simgap.report.plots import CurvePlot, short_names, told_curve
from simgap.report.reading import (
    as_list,
    as_object,
    as_objects,
    as_text,
    not_ours,
    number,
)
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, told
from simgap.text import counted, number as number_shown, shown, without_parameters

GROUP = "How wide to randomize"
MOST_CELLS = 4_000  # of the map
ROUNDING = 1e-9  # of what is at stake: 0 but for rounding
LINES = (
    ("gap", "average over all real models"),
    ("worst", "worst real model, in reward"),
    ("inside", "average inside the range"),
    ("outside", "average outside the range"),
)


@final
@dataclass(frozen=True, slots=True)
class WidthContent:
    """Everything the template draws about widths."""

    param: str
    headline: str
    reason: str
    facts: tuple[tuple[str, Told], ...]
    notes: tuple[str, ...]


def width_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `width-PARAM.json`."""
    rows = as_objects(record.get("widths"))
    param = shown(as_text(record.get("param")) or "?", 40)
    sure = as_object(record.get("certainty"))
    best = told(record.get("recommended"), certainty="").value
    noise = ROUNDING * abs(told(record.get("at_stake")).value or 0.0)
    chosen = next((row for row in rows if _is(row, best)), None)
    wanted = "" if chosen is None else _range(chosen)
    lost = NOTHING if chosen is None else told(chosen.get("gap"), noise=noise)
    plots = (
        _curves(rows, param, best, sure, noise, f"{anchor}-widths"),
        _map(record, rows, param, sure, noise, f"{anchor}-map"),
    )
    return Part(
        group=GROUP,
        template="width.html",
        anchor=anchor,
        title=f"Ranges of {param}",
        line=Line(
            what=f"width of {param}",
            about=f"{counted(len(rows), 'range')}, "
            f"{as_text(record.get('horizon')) or '?'} steps",
            answer=wanted,
            mood="plain",
            key_name="average loss of that range" if lost is not NOTHING else "",
            key=lost,
        ),
        content=WidthContent(
            param=param,
            headline=_headline(param, wanted),
            reason=as_text(record.get("reason")),
            facts=_facts(record, chosen, lost, noise),
            notes=notes_of(record),
        ),
        origin=origin_of(record),
        plots=tuple(plot for plot in plots if plot is not None),
        sheets=(_sheet(rows, noise, f"{anchor}-table-1"),) if rows else (),
        cards=_cards(param, wanted, lost),
        surety=surety_of(
            record,
            *(
                (f"{what} width {_width(row)}", told(row.get(field), noise=noise))
                for row in rows
                for field, what in (
                    ("gap", "average loss of"),
                    ("inside", "average inside"),
                )
            ),
            kind="width",
            stake=told(record.get("at_stake")).value,
            least=told(record.get("least_possible"), noise=noise),
        ),
    )


def _headline(param: str, wanted: str) -> str:
    if " to " in wanted:
        return f"Randomize {param} from {wanted}."
    return f"Train on {param} at {wanted} alone." if wanted else ""


def _is(row: Mapping[str, Any], width: float | None) -> bool:
    return width is not None and number(row.get("width")) == width


def _width(row: Mapping[str, Any]) -> str:
    return number_shown(number(row.get("width")), 5)


def _range(row: Mapping[str, Any]) -> str:
    """Return both ends of a range in words, or its width."""
    low, high = (told(row.get(end), certainty="") for end in ("low", "high"))
    if low.value is None or high.value is None:
        return f"width {_width(row)}"
    return low.text if low.text == high.text else f"{low.text} to {high.text}"


def _facts(
    record: Mapping[str, Any],
    chosen: Mapping[str, Any] | None,
    lost: Told,
    noise: float,
) -> tuple[tuple[str, Told], ...]:
    found = [
        (
            "nominal value: ranges here grow from it",
            told(record.get("nominal"), certainty="exact"),
        ),
        ("recommended width", told(record.get("recommended"), certainty="exact")),
        ("average gap of that range", lost),
        (
            "its worst gap, in reward",
            NOTHING if chosen is None else told(chosen.get("worst"), noise=noise),
        ),
    ]
    return tuple((name, each) for name, each in found if each is not NOTHING)


def _cards(param: str, wanted: str, lost: Told) -> tuple[Card, ...]:
    if not wanted:
        return ()
    words = f"{param}, recommended"
    if lost is not NOTHING:
        words += f"; it loses {lost.text} on average"
    return (Card("width", wanted, lost.certainty, words),)


def _curves(
    rows: Sequence[Mapping[str, Any]],
    param: str,
    best: float | None,
    sure: Mapping[str, Any],
    noise: float,
    key: str,
) -> CurvePlot | None:
    curves = []
    for field, name in LINES:
        found = [
            (number(row.get("width")), told(row.get(field), noise=noise))
            for row in rows
        ]
        word = certainty_of(sure.get(field, sure.get("widths")))
        curves.append(told_curve(name, found, word))
    curves = [each for each in curves if each.points]
    if not curves:
        return None
    marks = () if best is None else ((best, f"recommended: {number_shown(best, 4)}"),)
    return CurvePlot(
        key=key,
        title=f"What a range of {param} loses, by its width",
        x=f"width of the range of {param}",
        y="gap",
        curves=tuple(curves),
        note="Trained on the range, put in every model that may be real.",
        marks=marks,
    )


def _map(
    record: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    param: str,
    sure: Mapping[str, Any],
    noise: float,
    key: str,
) -> HeatPlot | None:
    names = [as_text(r.get("name")) or "?" for r in as_objects(record.get("real"))]
    drawn = [row for row in rows if as_list(row.get("gaps"))]
    if not names or not drawn:
        return None
    for row in drawn:
        if len(as_list(row.get("gaps"))) != len(names):
            raise not_ours(len(row["gaps"]), f"{len(names)} gaps, one for a real model")
    word = certainty_of(sure.get("gaps", sure.get("widths")))
    kept = spread_out(len(names), max(2, MOST_CELLS // len(drawn)))
    short, what = without_parameters([shown(name) for name in names])
    left = f" {len(kept)} of {len(names)} models are drawn." * (len(kept) < len(names))
    return HeatPlot(
        key=key,
        title="Every range in every real model",
        row_axis=f"range of {param}",
        column_axis=f"real model, by {shown(what, 40)}" if what else "real model",
        value="gap",
        rows=tuple(shown(_range(row), 40) for row in drawn),
        columns=short_names([short[at] for at in kept]),
        cells=tuple(
            tuple(told(row["gaps"][at], certainty=word, noise=noise) for at in kept)
            for row in drawn
        ),
        note="Rows are ranges that were trained on, narrow ones first." + left,
        row_word="trained on",
        column_word="real:",
    )


def _sheet(rows: Sequence[Mapping[str, Any]], noise: float, key: str) -> Sheet:
    def plain(row: Mapping[str, Any], field: str) -> Told:
        return replace(told(row.get(field), certainty=""), certainty="")

    headings = (
        Heading("width", "exact"),
        Heading("from", "exact"),
        Heading("to", "exact"),
        Heading("models", "exact"),
        Heading("average gap"),
        Heading("most in reward"),
        Heading("if this is real"),
        Heading("inside"),
        Heading("outside"),
    )
    return sheet(
        key,
        "Every range",
        headings,
        [
            (
                plain(row, "width"),
                plain(row, "low"),
                plain(row, "high"),
                plain(row, "models"),
                told(row.get("gap"), noise=noise),
                told(row.get("worst"), noise=noise),
                as_text(row.get("worst_model")),
                told(row.get("inside"), noise=noise),
                told(row.get("outside"), noise=noise),
            )
            for row in rows
        ],
    )
