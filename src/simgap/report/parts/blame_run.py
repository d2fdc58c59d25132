"""What knowing each parameter is worth to a trained policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from simgap.records.blame_run import BlamedRun, ToldParameter, ToldSet
from simgap.records.note import Note
from simgap.report.part import Line, Part, certainties_of, origin_of
from simgap.report.plots import BarPlot, GroupPlot
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import ShownNumber, show
from simgap.text import counted, listed, shown

GROUP = "Which parameter is worth knowing"
MOST_BARS = 16  # sets in the figure
BELOW = (
    "A share below 0: to be told it made the policy worse. No policy would have to put "
    "up with that: it was not trained long enough."
)


@final
@dataclass(frozen=True, slots=True)
class BlameRunContent:
    """Everything the template draws about what knowing is worth."""

    headline: str
    about: str
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]


def blame_run_part(record: BlamedRun, anchor: str) -> Part:
    """Return the part of `blame_run.json`."""
    names = [each.name for each in record.parameters]
    first = record.parameters[0] if record.parameters else None
    policy = shown(record.policy, 40)
    total = show(record.total, digits=4)
    plots = (
        _shares(record, f"{anchor}-shares"),
        _returns(record.sets, f"{anchor}-sets"),
    )
    sheets = (
        _parameters(record.parameters, f"{anchor}-table-1"),
        _sets(record.sets, f"{anchor}-table-2"),
        _checks(record, f"{anchor}-table-3") if record.checks else None,
    )
    return Part(
        group=GROUP,
        template="blame_run.html",
        anchor=anchor,
        title=f"Parameters told to {policy}",
        line=Line(
            what="blame",
            about=f"{counted(len(names), 'parameter')}, "
            f"{counted(record.trainings, 'training')}",
            answer="" if record.leader is None else f"most: {shown(record.leader, 40)}",
            mood="plain",
            key_name="" if first is None else f"share of {shown(first.name, 40)}",
            key=show(None if first is None else first.share, digits=4),
        ),
        content=BlameRunContent(
            headline=record.headline,
            about=_about(record),
            facts=_facts(record, total),
            notes=record.notes,
        ),
        origin=replace(origin_of(record), randomized=listed(sorted(names))),
        plots=tuple(each for each in plots if each is not None),
        sheets=tuple(each for each in sheets if each is not None),
        certainties=certainties_of(
            record,
            ("what knowing everything is worth", total),
            *(
                (f"share of {shown(each.name, 40)}", show(each.share, digits=4))
                for each in record.parameters
            ),
            kind="blame_run",
            gaps=False,
        ),
    )


def _about(record: BlamedRun) -> str:
    over = (
        "all sets of parameters"
        if record.method == "exact"
        else f"{record.orders} random orders of the parameters"
    )
    return (
        f"One policy, {shown(record.policy, 60)}, was trained with any of the "
        "parameters hidden from it. It ran the same episodes with sets of them told; "
        "what it gets more if all are told is shared out over the parameters, as "
        f"Shapley values over {over}. Intervals allow for other training seeds, except "
        "where these very policies are named."
    )


def _facts(
    record: BlamedRun, total: ShownNumber
) -> tuple[tuple[str, ShownNumber], ...]:
    by_size = sorted(record.sets, key=lambda each: len(each.told))
    found = [
        ("what knowing everything is worth", total),
        ("of these very policies", show(record.evaluation, digits=4)),
        (
            "spread between trainings",
            show(record.seed_spread, certainty="estimated", digits=3),
        ),
        ("episodes", show(record.episodes, certainty="exact", digits=9)),
    ]
    if by_size:
        ends = (("told nothing", by_size[0]), ("told everything", by_size[-1]))
        found[2:2] = [
            (f"mean return, {name}", show(each.returned, digits=4))
            for name, each in ends
        ]
    return tuple((name, each) for name, each in found if each.value is not None)


def _shares(record: BlamedRun, key: str) -> GroupPlot | None:
    if not record.parameters:
        return None
    series = (
        ("told first", [each.first for each in record.parameters]),
        ("share", [each.share for each in record.parameters]),
        ("told last", [each.last for each in record.parameters]),
    )
    return GroupPlot(
        key=key,
        title="What knowing each parameter is worth",
        x="parameter",
        y="return",
        groups=tuple(shown(each.name, 40) for each in record.parameters),
        series=tuple(
            (name, tuple(show(each, digits=4) for each in found))
            for name, found in series
        ),
        note="Shares add up to what knowing everything is worth. Told first: nothing "
        "else is told. Told last: all others are. " + _on_negative(record.parameters),
    )


def _on_negative(found: Sequence[ToldParameter]) -> str:
    return BELOW if any(each.share.upper < 0.0 for each in found) else ""


def _returns(sets: Sequence[ToldSet], key: str) -> BarPlot | None:
    """Return the mean return with every set told; the least and greatest sets first."""
    ranked = sorted(sets, key=lambda each: len(each.told))
    if not ranked:
        return None
    left = len(ranked) - MOST_BARS
    return BarPlot(
        key,
        "Mean return, by what the policy is told",
        "return",
        tuple(
            (shown(_name(each), 40), show(each.returned, digits=4))
            for each in (*ranked[: MOST_BARS - 1], *ranked[MOST_BARS - 1 :][-1:])
        ),
        note=f"{counted(left, 'more set')} in the table." if left > 0 else "",
    )


def _name(found: ToldSet) -> str:
    return ", ".join(found.told) or "nothing"


def _parameters(found: Sequence[ToldParameter], key: str) -> Sheet:
    heads = ("share", "part of all", "told first", "told last", "these very policies")
    rows: list[list[Cell]] = [
        [
            each.name,
            show(each.share, digits=4),
            show(each.part, digits=3),
            show(each.first, digits=4),
            show(each.last, digits=4),
            show(each.evaluation, digits=4),
            show(each.seed_spread, certainty="estimated", digits=3),
        ]
        for each in found
    ]
    headings = [Heading(head) for head in ("parameter", *heads, "spread of trainings")]
    return sheet(key, "Every parameter", headings, rows, note=_on_negative(found))


def _sets(found: Sequence[ToldSet], key: str) -> Sheet:
    return sheet(
        key,
        "Every set of parameters that was told",
        [Heading("told"), Heading("mean return")],
        [(_name(each), show(each.returned, digits=4)) for each in found],
    )


def _checks(record: BlamedRun, key: str) -> Sheet:
    return sheet(
        key,
        "The same policy beside others that were trained for one case",
        [
            Heading("told"),
            Heading("trained for that alone"),
            Heading(f"{shown(record.policy, 40)} gets more"),
        ],
        [
            (each.told, each.against, show(each.difference, digits=4))
            for each in record.checks
        ],
        note="If it gets much less, shares say little: train it longer.",
    )
