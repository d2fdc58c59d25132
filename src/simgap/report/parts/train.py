"""How policies were trained: the return of every seed while it learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import final

from simgap.records.note import Note
from simgap.records.train import Train
from simgap.report.part import Line, Part, certainties_of, origin_of
from simgap.report.plots import Curve, CurvePlot, Point
from simgap.report.sheet import Heading, Sheet, Sign, sheet
from simgap.report.shown_number import NOTHING, show
from simgap.text import counted, listed, shown

GROUP = "Trainings"
X, Y = "steps of the simulator", "return of training episodes"
NOISE = (
    "Returns of the episodes that were learnt from, in which other actions are tried "
    "out: policies that are measured get more."
)


@final
@dataclass(frozen=True, slots=True)
class TrainContent:
    """Everything the template draws about trainings."""

    headline: str
    mood: str
    notes: tuple[Note, ...]


def train_part(record: Train, anchor: str) -> Part:
    """Return the part of `train.json`."""
    return trainings_part([record], anchor)


def trainings_part(records: Sequence[Train], anchor: str) -> Part:
    """Return one part of all trainings of a folder: a figure of each, with seeds."""
    every = [one for each in records for one in each.policies]
    rough = [one for one in every if one.converged is False]
    headline, mood = f"{counted(len(every), 'training')}: all converged.", "good"
    if rough:
        names = listed(list(dict.fromkeys(one.name for one in rough)))
        headline = f"{len(rough)} of {len(every)} trainings had not converged: {names}."
        mood = "mind"
    plots = [_seeds(each, f"{anchor}-{at}") for at, each in enumerate(records, start=1)]
    if len(records) > 1:
        plots.insert(0, _all(records, f"{anchor}-all"))
    first = records[0]
    names = listed([each.name for each in records])
    return Part(
        group=GROUP,
        template="train.html",
        anchor=anchor,
        title=f"Training of {names}",
        line=Line(
            what="training",
            about=f"{counted(len(every), 'training')} of {names}",
            answer="converged" if not rough else f"{len(rough)} not converged",
            mood=mood,
            key_name="return at the end" if len(records) == 1 else "",
            key=show(first.final_return, digits=4) if len(records) == 1 else NOTHING,
        ),
        content=TrainContent(
            headline=headline,
            mood=mood,
            notes=tuple(
                Note(note.code, f"{each.name}: {note.text}")
                for each in records
                for note in each.notes
            ),
        ),
        origin=origin_of(first),
        plots=tuple(plots),
        sheets=(_table(records, f"{anchor}-table-1"),),
        certainties=certainties_of(
            first,
            *(
                (f"return at the end, {shown(each.name, 40)}", show(each.final_return))
                for each in records
            ),
            kind="train",
            gaps=False,
        ),
    )


def what_it_is(record: Train) -> str:
    """Return a way to train in words."""
    memory = "without memory" if record.memory == "none" else f"memory {record.memory}"
    if record.draws:
        memory += f", drawn by {shown(record.draws, 40)}"
    if record.masked:
        return f"{memory}, told some of the parameters"
    if record.informed:
        return f"{memory}, told the parameters"
    if record.specialist:
        nominal = record.randomize == "nominal"
        return f"{memory}, for {'the nominal values' if nominal else 'one value'} alone"
    return memory


def _seeds(record: Train, key: str) -> CurvePlot:
    return CurvePlot(
        key=key,
        title=f"{shown(record.name, 40)}: {what_it_is(record)}",
        x=X,
        y=Y,
        curves=tuple(
            Curve(
                f"seed {each.seed}",
                tuple((float(x), y, y, y) for x, y in each.curve),
                "estimated",
            )
            for each in record.policies
        ),
    )


def _all(records: Sequence[Train], key: str) -> CurvePlot:
    return CurvePlot(
        key=key,
        title="All trainings: mean over seeds",
        x=X,
        y=Y,
        curves=tuple(
            Curve(shown(each.name, 40), _mean(each), "estimated") for each in records
        ),
        note=f"Bands go from the worst seed to the best one. {NOISE}",
        band=True,
    )


def _mean(record: Train) -> tuple[Point, ...]:
    """Return the mean over seeds where all of them have a point, and their range."""
    found: dict[int, list[float]] = {}
    for each in record.policies:
        for x, y in each.curve:
            found.setdefault(x, []).append(y)
    most = max(map(len, found.values()), default=0)
    return tuple(
        (float(x), sum(ys) / len(ys), min(ys, default=inf), max(ys, default=-inf))
        for x, ys in sorted(found.items())
        if len(ys) == most
    )


def _table(records: Sequence[Train], key: str) -> Sheet:
    heads = (
        "training",
        "what it is",
        "seed",
        "how it ended",
        "return at the end",
        "steps",
        "policy",
    )
    return sheet(
        key,
        "Every training",
        [Heading(head) for head in heads],
        [
            (
                each.name,
                what_it_is(each),
                one.seed,
                Sign(one.outcome, "mind" if one.converged is False else "good"),
                show(one.final_return, certainty="estimated", digits=4),
                each.steps,
                one.file,
            )
            for each in records
            for one in each.policies
        ],
        stacked=True,
    )
