"""One HTML page from one record: no script, no network, readable by a stranger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from simgap.records import Certified, number, read_record, replacing
from simgap.report.figures import Figure, bar_figure
from simgap.report.oracle_part import oracle_part
from simgap.report.reading import as_object, as_objects, bounds_of, known
from simgap.report.templating import template
from simgap.report.words import bracket, clean, shown
from simgap.report.words import number as number_shown

SURE = {
    "exact": "a count, or a number without any rounding",
    "certified": "the true value provably lies between two bounds; where one number "
    "is shown, both bounds round to it. The bias span is that of a model whose rewards "
    "differ from this one by at most the residual",
    "estimated": "from samples, with an interval that may miss at a stated rate",
    "unlabelled": "the record does not say how sure this number is",
}


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table of models."""

    title: str
    certainty: str
    cells: tuple[str, ...]


def write_page(record: Path, page: Path, timings: Path | None = None) -> int:
    """Draw the record in one file as a page in another; return the page's bytes.

    What differs from run to run is kept apart from a record, in `timings`.
    """
    measured = read_record(timings) if timings is not None else {}
    content = render_page(read_record(record), measured).encode("utf-8", "replace")
    with replacing(page) as draft:
        draft.write_bytes(content)
    return len(content)


def render_page(
    record: Mapping[str, Any], timings: Mapping[str, Any] | None = None
) -> str:
    """Return the page of a record; what the record lacks becomes a sentence."""
    models = as_objects(record.get("models"))
    certainty = {
        str(key): str(word) if word in SURE else "unlabelled"
        for key, word in as_object(record.get("certainty")).items()
    }
    columns = _columns(models, certainty, record)
    oracle = oracle_part(record, timings or {}, tuple(SURE))
    used = {column.certainty for column in columns}
    if oracle is not None:
        used |= {column.certainty for column in oracle.columns} | {"estimated"}
    return template("page.html").render(
        title=shown(str(record.get("title", "A class of simulators")), 120),
        summary=clean(str(record.get("summary", ""))),
        oracle=oracle,
        facts=_facts(record, models),
        figures=_figures(models, certainty, record),
        names=[shown(str(each.get("name", "?"))) for each in models],
        columns=columns,
        sure={word: text for word, text in SURE.items() if word in used},
        notes=[clean(str(note)) for note in record.get("notes") or []],
        source={
            clean(str(key)): clean(str(value))
            for key, value in as_object(record.get("provenance")).items()
            if value is not None
        },
    )


def _facts(
    record: Mapping[str, Any], models: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str, str]]:
    facts = [("models", str(len(models)), "exact")]
    facts.extend(
        (key, str(record[key]), "exact")
        for key in ("states", "actions", "horizon")
        if isinstance(record.get(key), int)
    )
    if "diameter" in record:
        bounds = bounds_of(record["diameter"])
        facts.append(("largest diameter", bracket(bounds, 5), "certified"))
    facts.extend(_ratio(models))
    return facts


def _ratio(models: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    bounds = [
        (
            number(each["optimal_bounds"]["lower"]),
            number(each["optimal_bounds"]["upper"]),
        )
        for each in models
        if known(each, "optimal_bounds")
    ]
    if len(bounds) < 2 or min(lower for lower, _ in bounds) <= 0.0:
        return []
    ratio = Certified(
        max(lower for lower, _ in bounds) / min(upper for _, upper in bounds),
        max(upper for _, upper in bounds) / min(lower for lower, _ in bounds),
    )
    return [("best V* / worst V*", bracket(ratio, 4), "certified")]


def _figures(
    models: Sequence[Mapping[str, Any]],
    certainty: Mapping[str, str],
    record: Mapping[str, Any],
) -> list[Figure]:
    steps = record.get("horizon")
    drawn = (
        ("optimal", "optimal_bounds", "Optimal value V*", f"reward in {steps} steps"),
        ("gain", "gain", "Optimal gain", "reward per step, in the long run"),
        ("diameter", "diameter", "Diameter", "expected steps of the slowest trip"),
    )
    figures = []
    for key, field, title, unit in drawn:
        values = [
            (str(each.get("name", "?")), bounds_of(each[field]))
            for each in models
            if known(each, field)
        ]
        sure = certainty.get(key, "unlabelled")
        figure = bar_figure(key, title, values, unit=unit, certainty=sure)
        if figure is not None:
            figures.append(figure)
    return figures


def _columns(
    models: Sequence[Mapping[str, Any]],
    certainty: Mapping[str, str],
    record: Mapping[str, Any],
) -> list[Column]:
    columns = []
    names = list(as_object(models[0].get("parameters"))) if models else []
    for name in names:
        cells = [
            number_shown(number(value)) if value is not None else "-"
            for each in models
            for value in (as_object(each.get("parameters")).get(name),)
        ]
        columns.append(Column(shown(name, 30), "exact", tuple(cells)))
    wanted = (
        ("optimal", "optimal_bounds", f"V* in {record.get('horizon')} steps"),
        ("gain", "gain", "gain per step"),
        ("bias_span", "bias_span", "bias span"),
        ("residual", "residual", "residual"),
        ("diameter", "diameter", "diameter"),
    )
    for key, field, title in wanted:
        if any(known(each, field) for each in models):
            cells = [_cell(each.get(field)) for each in models]
            sure = certainty.get(key, "unlabelled")
            columns.append(Column(title, sure, tuple(cells)))
    return columns


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return bracket(bounds_of(value))
    return number_shown(number(value), 3)
