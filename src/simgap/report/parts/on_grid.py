"""A table on a grid beside its simulator: what policies earn in both, finer grids."""

from __future__ import annotations

from simgap.records import Audit, InSimulator, Ladder, Rung
from simgap.report.plots import CurvePlot, shown_curve
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, show
from simgap.text import percent


def grid_sheets(record: Audit, anchor: str) -> tuple[Sheet, ...]:
    """Return the tables of an audit of a class on a grid: none for other classes."""
    found = []
    if record.in_simulator:
        heads = ("policy", "in the table", "in the simulator", "episodes", "no answer")
        found.append(
            sheet(
                f"{anchor}-simulator",
                "What the same policies earn in the table and in the simulator itself",
                [Heading(head) for head in heads],
                [_graded(each) for each in record.in_simulator],
                note="Mean over the models. No answer: the part of the steps in which "
                "the simulator showed what no table allows.",
            )
        )
    if record.ladder is not None and record.ladder.rungs:
        titles = ("nodes", "verdict of the table", "states", "noise of a step")
        more = ("average loss", "at stake", "earned in the table", "in the simulator")
        found.append(
            sheet(
                f"{anchor}-ladder",
                f"Finer and finer grids: {record.ladder.outcome}",
                [Heading(title) for title in (*titles, *more)],
                [_climbed(rung) for rung in record.ladder.rungs],
            )
        )
    return tuple(found)


def ladder_plots(ladder: Ladder | None, anchor: str) -> tuple[CurvePlot, ...]:
    """Return the average loss by the size of the grid, if there was a ladder."""
    rungs = () if ladder is None else ladder.rungs
    points = [(float(rung.states), show(rung.average_gap)) for rung in rungs]
    known = [(states, lost) for states, lost in points if lost.value is not None]
    if ladder is None or not known:
        return ()
    return (
        CurvePlot(
            key=f"{anchor}-plot-ladder",
            title="The average loss on finer and finer grids",
            x="states of the table",
            y="average loss of the best agent",
            curves=(shown_curve("best agent", known, "certified"),),
            log_x=True,
            note=f"{ladder.outcome}.",
        ),
    )


def _graded(found: InSimulator) -> list[Cell]:
    return [
        found.policy,
        show(found.table),
        show(found.simulator),
        show(found.episodes, certainty=""),
        percent(found.fallbacks),
    ]


def _climbed(rung: Rung) -> list[Cell]:
    earned: tuple[ShownNumber, ShownNumber] = NOTHING, NOTHING
    if rung.in_simulator:
        first = rung.in_simulator[0]
        earned = show(first.table), show(first.simulator)
    return [
        "x".join(str(each) for each in rung.cells),
        rung.verdict,
        show(rung.states, certainty=""),
        percent(rung.noise),
        show(rung.average_gap),
        show(rung.at_stake, certainty="certified"),
        *earned,
    ]
