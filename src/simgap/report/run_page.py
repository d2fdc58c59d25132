"""The page of `simgap run`: regret against steps, and what was lost in every model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simgap.records import number, read_record, replacing
from simgap.report.curve_figure import curve_figure
from simgap.report.page import SURE
from simgap.report.reading import as_object, as_objects
from simgap.report.templating import template
from simgap.report.words import clean, shown
from simgap.report.words import number as number_shown


def write_run_page(record: Path, page: Path) -> int:
    """Draw the record of a run as a page; return the page's bytes."""
    content = render_run_page(read_record(record)).encode("utf-8", "replace")
    with replacing(page) as draft:
        draft.write_bytes(content)
    return len(content)


def render_run_page(record: Mapping[str, Any]) -> str:
    """Return the page of a run; what the record lacks becomes a sentence."""
    models = as_objects(record.get("models"))
    figure = curve_figure([(str(m.get("name", "?")), _points(m)) for m in models])
    return template("run.html").render(
        title=shown(f"{record.get('policy', '?')}: what it loses", 120),
        about=clean(str(record.get("about", ""))),
        horizon=record.get("horizon", "?"),
        seeds=record.get("seeds", "?"),
        figure=figure,
        rows=[_row(m) for m in models],
        notes=[clean(str(note)) for note in record.get("notes") or []],
        sure={word: SURE[word] for word in ("exact", "certified", "estimated")},
        source={
            clean(str(key)): clean(str(value))
            for key, value in as_object(record.get("provenance")).items()
            if value is not None
        },
    )


def _points(model: Mapping[str, Any]) -> list[tuple[float, float, float, float]]:
    return [
        (
            number(p.get("step")),
            number(p.get("estimate")),
            number(p.get("lower")),
            number(p.get("upper")),
        )
        for p in as_objects(model.get("curve"))
    ]


def _row(model: Mapping[str, Any]) -> tuple[str, ...]:
    gap, regret = as_object(model.get("gap")), as_object(model.get("regret"))
    return (
        shown(str(model.get("name", "?"))),
        _told(model.get("optimal")),
        _told(gap.get("estimate")),
        f"{_told(gap.get('lower'))} to {_told(gap.get('upper'))}",
        _told(regret.get("estimate")),
        str(model.get("truth_eliminated", "-")),
        _told(model.get("switches")),
    )


def _told(value: Any) -> str:
    return "-" if value is None else number_shown(number(value), 5)
