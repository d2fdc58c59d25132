"""When a trained policy finds out: losses over time, and what its memory holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from simgap.intervals import Estimate
from simgap.records.files import damaged_record
from simgap.records.identify_run import IdentifiedRun, ReadParameter
from simgap.records.note import Note
from simgap.report.part import Line, Part, certainties_of, origin_of
from simgap.report.plots import CurvePlot, shown_curve
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, show
from simgap.text import counted, listed, shown

GROUP = "When a policy finds out"
MOST_PARAMETERS = 8  # in the figure


@final
@dataclass(frozen=True, slots=True)
class IdentifyRunContent:
    """Everything the template draws about finding out."""

    headline: str
    about: str
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]


def identify_run_part(record: IdentifiedRun, anchor: str) -> Part:
    """Return the part of `identify_run.json`."""
    _check(record)
    names = [each.name for each in record.parameters]
    total = show(record.total, digits=4)
    plots = (
        _losses(record, f"{anchor}-losses"),
        _read(record, f"{anchor}-memory"),
    )
    sheets = (
        _parameters(record, f"{anchor}-table-1") if names else None,
        _steps(record, f"{anchor}-table-2") if record.losses else None,
    )
    return Part(
        group=GROUP,
        template="identify_run.html",
        anchor=anchor,
        title=f"What {shown(record.policy, 40)} loses, and what it has found out",
        line=Line(
            what="identify",
            about=f"{counted(record.worlds, 'world')}, {record.horizon} steps",
            answer="" if record.reference is None else _when(record.settled),
            mood="plain",
            key_name="lost in an episode" if total is not NOTHING else "",
            key=total,
        ),
        content=IdentifyRunContent(
            headline=record.headline,
            about=_about(record),
            facts=_facts(record, total),
            notes=record.notes,
        ),
        origin=replace(origin_of(record), randomized=listed(sorted(names))),
        plots=tuple(each for each in plots if each is not None),
        sheets=tuple(each for each in sheets if each is not None),
        certainties=certainties_of(
            record, ("lost in an episode", total), kind="identify_run", gaps=False
        ),
    )


def _check(record: IdentifiedRun) -> None:
    for each in record.parameters:
        if not len(each.explained) == len(each.shuffled) == len(record.probed):
            raise damaged_record(
                len(each.explained), f"a number for each of {len(record.probed)} steps"
            )


def _when(step: int | None) -> str:
    return "never" if step is None else f"from step {step} on"


def _about(record: IdentifiedRun) -> str:
    worlds = (
        f"the same {counted(record.worlds, 'world')}, drawn from what is randomized"
    )
    if record.reference is None:
        return f"{shown(record.policy, 60)} ran an episode in each of {worlds}."
    return (
        f"{shown(record.policy, 60)} remembers and is told nothing, "
        f"{shown(record.reference, 60)} is told the parameters. Both ran an episode in "
        f"each of {worlds}. The band holds at all steps at once. A parameter is read "
        "from the memory by a linear map that was fitted to half of the worlds and is "
        "judged on the others: 1 is all of its variance, 0 is nothing."
    )


def _facts(
    record: IdentifiedRun, total: ShownNumber
) -> tuple[tuple[str, ShownNumber], ...]:
    found = [
        ("lost in an episode", total),
        ("of these very policies", show(record.evaluation, digits=4)),
    ]
    if record.reference is not None:
        for name, step in (
            ("nothing is lost from step", record.settled),
            ("of these very policies, from step", record.settled_here),
        ):
            never = replace(NOTHING, text="never", certainty="estimated")
            known = show(step, certainty="estimated", digits=9)
            found.append((name, never if step is None else known))
    found.append(("worlds", show(record.worlds, certainty="exact", digits=9)))
    return tuple((name, each) for name, each in found if each is not NOTHING)


def _losses(record: IdentifiedRun, key: str) -> CurvePlot | None:
    if not record.losses:
        return None
    curves = (
        ("lost", [(e.step, e.loss) for e in record.losses]),
        ("of these very policies", [(e.step, e.evaluation) for e in record.losses]),
    )
    settled = record.settled or 1  # None: never
    return CurvePlot(
        key=key,
        title="What is lost at each step",
        x="step",
        y=f"reward of {shown(str(record.reference), 30)} less that of "
        f"{shown(record.policy, 30)}",
        curves=tuple(
            shown_curve(name, [(float(at), show(each)) for at, each in points])
            for name, points in curves
        ),
        marks=((float(settled), "0 in the band"),) if settled > 1 else (),
        band=True,
        note="The outer band allows for other training seeds, the inner one is about "
        "these very policies.",
    )


def _read(record: IdentifiedRun, key: str) -> CurvePlot | None:
    chosen = record.parameters[:MOST_PARAMETERS]
    if not chosen:
        return None

    def points(
        found: tuple[Estimate | None, ...],
    ) -> list[tuple[float, ShownNumber]]:
        return [
            (float(step), show(each))
            for step, each in zip(record.probed, found, strict=True)
            if each is not None
        ]

    curves = [
        shown_curve(shown(each.name, 40), points(each.explained)) for each in chosen
    ]
    wrong = [
        replace(
            shown_curve(f"{shown(each.name, 30)}, wrong order", points(each.shuffled)),
            bound=True,
        )
        for each in chosen
    ]
    left = len(record.parameters) - len(chosen)
    return CurvePlot(
        key=key,
        title="How well parameters can be read from the memory",
        x="step",
        y="part of the variance (R²)",
        curves=tuple(each for each in (*curves, *wrong) if each.points),
        log_x=True,
        note="Dashed: worlds in a wrong order, which must be about 0."
        + (f" {counted(left, 'more parameter')} in the table." if left else ""),
    )


def _parameters(record: IdentifiedRun, key: str) -> Sheet:
    headings = [Heading("parameter"), Heading("what knowing it is worth")]
    headings += [Heading(f"step {step}") for step in record.probed]

    def row(
        each: ReadParameter, found: tuple[Estimate | None, ...], wrong: bool
    ) -> list[Cell]:
        name = f"{each.name}, wrong order" if wrong else each.name
        blame = NOTHING if wrong else show(each.blame, digits=4)
        return [name, blame, *(show(one, digits=3) for one in found)]

    return sheet(
        key,
        "Part of the variance that can be read from the memory",
        headings,
        [
            line
            for each in record.parameters
            for line in (
                row(each, each.explained, False),
                row(each, each.shuffled, True),
            )
        ],
        note="What knowing a parameter is worth: its share by simgap blame RUN."
        if any(each.blame for each in record.parameters)
        else "simgap blame RUN says what knowing a parameter is worth.",
    )


def _steps(record: IdentifiedRun, key: str) -> Sheet:
    return sheet(
        key,
        "Every step",
        [Heading("step", "exact"), Heading("lost"), Heading("these very policies")],
        [
            (each.step, show(each.loss, digits=4), show(each.evaluation, digits=4))
            for each in record.losses
        ],
    )
