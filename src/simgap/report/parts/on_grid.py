"""A table on a grid beside its simulator: what policies earn in both, finer grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simgap.report.plots import CurvePlot, told_curve
from simgap.report.reading import as_list, as_object, as_objects, as_text
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, Told, told
from simgap.text import number as number_shown


def grid_sheets(record: Mapping[str, Any], anchor: str) -> tuple[Sheet, ...]:
    """Return the tables of an audit of a class on a grid: none for other classes."""
    found = []
    graded = as_objects(record.get("in_simulator"))
    if graded:
        heads = ("policy", "in the table", "in the simulator", "episodes", "no answer")
        rows: list[list[Cell]] = [
            [
                as_text(each.get("policy")),
                told(each.get("table")),
                told(each.get("simulator")),
                told(each.get("episodes"), certainty=""),
                _percent(each.get("fallbacks")),
            ]
            for each in graded
        ]
        found.append(
            sheet(
                f"{anchor}-simulator",
                "What the same policies earn in the table and in the simulator itself",
                [Heading(head) for head in heads],
                rows,
                note="Mean over the models. No answer: the part of the steps in which "
                "the simulator showed what no table allows.",
            )
        )
    rungs = as_objects(_ladder(record).get("rungs"))
    if rungs:
        titles = ("nodes", "verdict of the table", "states", "noise of a step")
        more = ("average loss", "at stake", "earned in the table", "in the simulator")
        climbed: list[list[Cell]] = [
            [
                _cells(rung),
                as_text(rung.get("verdict")),
                told(rung.get("states"), certainty=""),
                _percent(rung.get("noise")),
                told(rung.get("average_gap")),
                told(rung.get("at_stake"), certainty="certified"),
                *_first(rung),
            ]
            for rung in rungs
        ]
        found.append(
            sheet(
                f"{anchor}-ladder",
                f"Finer and finer grids: {as_text(_ladder(record).get('outcome'))}",
                [Heading(title) for title in (*titles, *more)],
                climbed,
            )
        )
    return tuple(found)


def ladder_plots(record: Mapping[str, Any], anchor: str) -> tuple[CurvePlot, ...]:
    """Return the average loss by the size of the grid, if there was a ladder."""
    rungs = as_objects(_ladder(record).get("rungs"))
    points: list[tuple[float, Told]] = []
    for rung in rungs:
        states, lost = told(rung.get("states")).value, told(rung.get("average_gap"))
        if states is not None and lost.value is not None:
            points.append((states, lost))
    if not points:
        return ()
    return (
        CurvePlot(
            key=f"{anchor}-plot-ladder",
            title="The average loss on finer and finer grids",
            x="states of the table",
            y="average loss of the best agent",
            curves=(told_curve("best agent", points, "certified"),),
            log_x=True,
            note=f"{as_text(_ladder(record).get('outcome'))}.",
        ),
    )


def _ladder(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(record.get("ladder"))


def _cells(rung: Mapping[str, Any]) -> str:
    return "x".join(as_text(each) for each in as_list(rung.get("cells")))


def _first(rung: Mapping[str, Any]) -> tuple[Told, Told]:
    graded = as_objects(rung.get("in_simulator"))
    if not graded:
        return NOTHING, NOTHING
    return told(graded[0].get("table")), told(graded[0].get("simulator"))


def _percent(value: Any) -> str:
    part = told(value).value
    return "-" if part is None else f"{number_shown(100.0 * part, 3)} %"
