"""How wide to randomize a parameter: what each range loses, and which is enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from simgap.intervals import Interval
from simgap.records.files import damaged_record
from simgap.records.note import Note
from simgap.records.width import RangeLoss, Width
from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.plots import CurvePlot, short_names, shown_curve
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, certainty_of, show
from simgap.text import counted, number, shown, without_parameters

GROUP = "How wide to randomize"
MOST_CELLS = 4_000  # of the map
ROUNDING = 1e-9  # of what is at stake: 0 but for rounding
LINES: tuple[tuple[str, str, Callable[[RangeLoss], Interval | None]], ...] = (
    ("gap", "average over all real models", lambda row: row.gap),
    ("worst", "worst real model, in reward", lambda row: row.worst),
    ("inside", "average inside the range", lambda row: row.inside),
    ("outside", "average outside the range", lambda row: row.outside),
)


@final
@dataclass(frozen=True, slots=True)
class WidthContent:
    """Everything the template draws about widths."""

    param: str
    headline: str
    reason: str
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]


def width_part(record: Width, anchor: str) -> Part:
    """Return the part of `width-PARAM.json`."""
    param, noise = shown(record.param, 40), ROUNDING * abs(record.at_stake)
    chosen = next((r for r in record.widths if r.width == record.recommended), None)
    wanted = "" if chosen is None else _range(chosen)
    lost = NOTHING if chosen is None else show(chosen.gap, noise=noise)
    plots = (
        _curves(record, param, noise, f"{anchor}-widths"),
        _map(record, param, noise, f"{anchor}-map"),
    )
    return Part(
        group=GROUP,
        template="width.html",
        anchor=anchor,
        title=f"Ranges of {param}",
        line=Line(
            what=f"width of {param}",
            about=f"{counted(len(record.widths), 'range')}, {record.horizon} steps",
            answer=wanted,
            mood="plain",
            key_name="average loss of that range" if chosen is not None else "",
            key=lost,
        ),
        content=WidthContent(
            param=param,
            headline=_headline(param, chosen),
            reason=record.reason,
            facts=_facts(record, chosen, noise),
            notes=record.notes,
        ),
        origin=origin_of(record),
        plots=tuple(plot for plot in plots if plot is not None),
        sheets=(_sheet(record, noise, f"{anchor}-table-1"),) if record.widths else (),
        cards=()
        if chosen is None
        else (
            Card(
                "width",
                wanted,
                lost.certainty,
                f"{param}, recommended; it loses {lost.text} on average",
            ),
        ),
        certainties=certainties_of(
            record,
            *(
                (f"{what} width {number(row.width, 5)}", show(value, noise=noise))
                for row in record.widths
                for what, value in (
                    ("average loss of", row.gap),
                    ("average inside", row.inside),
                )
            ),
            kind="width",
            stake=record.at_stake,
            least=show(record.least_possible, noise=noise),
        ),
    )


def _headline(param: str, chosen: RangeLoss | None) -> str:
    if chosen is None:
        return ""
    if chosen.low < chosen.high:
        return f"Randomize {param} from {_range(chosen)}."
    return f"Train on {param} at {_range(chosen)} alone."


def _range(row: RangeLoss) -> str:
    """Return both ends of a range in words."""
    low, high = (show(end, certainty="").text for end in (row.low, row.high))
    return low if low == high else f"{low} to {high}"


def _facts(
    record: Width, chosen: RangeLoss | None, noise: float
) -> tuple[tuple[str, ShownNumber], ...]:
    found = [
        (
            "nominal value: ranges here grow from it",
            show(record.nominal, certainty="exact"),
        ),
        ("recommended width", show(record.recommended, certainty="exact")),
    ]
    if chosen is not None:
        found += [
            ("average gap of that range", show(chosen.gap, noise=noise)),
            ("its worst gap, in reward", show(chosen.worst, noise=noise)),
        ]
    return tuple(found)


def _curves(record: Width, param: str, noise: float, key: str) -> CurvePlot | None:
    curves = [
        shown_curve(
            name,
            [(row.width, show(get(row), noise=noise)) for row in record.widths],
            certainty_of(record.certainty.get(field)),
        )
        for field, name, get in LINES
    ]
    drawn = tuple(each for each in curves if each.points)
    if not drawn:
        return None
    best = record.recommended
    return CurvePlot(
        key=key,
        title=f"What a range of {param} loses, by its width",
        x=f"width of the range of {param}",
        y="gap",
        curves=drawn,
        note="Trained on the range, put in every model that may be real.",
        marks=((best, f"recommended: {number(best, 4)}"),),
    )


def _map(record: Width, param: str, noise: float, key: str) -> HeatPlot | None:
    names, rows = [each.name for each in record.real], record.widths
    if not names or not rows:
        return None
    for row in rows:
        if len(row.gaps) != len(names):
            raise damaged_record(
                len(row.gaps), f"{len(names)} gaps, one for a real model"
            )
    word = certainty_of(record.certainty.get("gaps"))
    kept = spread_out(len(names), max(2, MOST_CELLS // len(rows)))
    short, what = without_parameters([shown(name) for name in names])
    left = f" {len(kept)} of {len(names)} models are drawn." * (len(kept) < len(names))
    return HeatPlot(
        key=key,
        title="Every range in every real model",
        row_axis=f"range of {param}",
        column_axis=f"real model, by {shown(what, 40)}" if what else "real model",
        value="gap",
        rows=tuple(shown(_range(row), 40) for row in rows),
        columns=short_names([short[at] for at in kept]),
        cells=tuple(
            tuple(show(row.gaps[at], certainty=word, noise=noise) for at in kept)
            for row in rows
        ),
        note="Rows are ranges that were trained on, narrow ones first." + left,
        row_word="trained on",
        column_word="real:",
    )


def _sheet(record: Width, noise: float, key: str) -> Sheet:
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
    rows: list[tuple[Cell, ...]] = [
        (
            show(row.width, certainty=""),
            show(row.low, certainty=""),
            show(row.high, certainty=""),
            show(row.models, certainty=""),
            show(row.gap, noise=noise),
            show(row.worst, noise=noise),
            row.worst_model,
            show(row.inside, noise=noise),
            show(row.outside, noise=noise),
        )
        for row in record.widths
    ]
    return sheet(key, "Every range", headings, rows)
