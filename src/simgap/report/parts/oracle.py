"""The oracle: will it transfer? Verdict, who loses what, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from simgap.intervals import Certified
from simgap.records.files import damaged_record
from simgap.records.note import Note
from simgap.records.oracle import BaselinePolicy, Oracle, OracleModel
from simgap.report.part import Line, Part, certainties_of, origin_of
from simgap.report.parts.memory_card import memory_cards
from simgap.report.parts.oracle_plots import TRACKS, oracle_plots
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import (
    NOTHING,
    ShownNumber,
    certainty_of,
    evaluated,
    quiet,
    show,
)
from simgap.text import between, counted, number, part_of_value, shown

GROUP = "The best agent there can be"
BEST = "average loss of the best agent"
ANY_OPTIMAL = (
    "The last column holds what any policy of the least average loss loses there. A "
    "gap is at most the average gap divided by the weight of the model; where the "
    "solver knows no more, models of the same weight have the same ends."
)
NAMES = {"posterior-sampling": "posterior-sampling, by step"}  # another: by episode
INFORMED = "informed"  # the yardstick itself: it loses nothing by definition
NEGLIGIBLE = 1e-9  # of what could be had: nothing, in words


@final
@dataclass(frozen=True, slots=True)
class OracleContent:
    """Everything the template draws about the oracle."""

    headline: str
    points: tuple[str, ...]
    facts: tuple[tuple[str, ShownNumber], ...]
    solver: str
    outcome: str
    notes: tuple[tuple[str, str], ...]  # of simpler policies
    left_out: tuple[Note, ...]  # by limits


def oracle_part(record: Oracle, anchor: str) -> Part:
    """Return the part of `oracle.json`."""
    if not record.lower <= record.upper:
        raise damaged_record(record.lower, f"a value of at most {record.upper}")
    noise = record.noise
    others = {
        NAMES.get(name) or shown(name): each
        for name, each in record.baselines.items()
        if name != INFORMED
    }
    average = quiet(show(record.average_gap), noise)
    estimated = quiet(show(record.estimated_gap), noise)
    sure = certainty_of(record.certainty.get("worst_gap"))
    return Part(
        group=GROUP,
        template="oracle.html",
        anchor=anchor,
        title="The oracle, and what simpler policies lose",
        line=Line(
            what="oracle",
            about=f"{counted(len(record.models), 'model')}, {_length(record)}",
            answer=record.outcome,
            mood="plain",
            key_name=BEST if average.value is not None else "",
            key=average,
        ),
        content=OracleContent(
            headline=_headline(record, average),
            points=_points(record),
            facts=tuple(
                pair
                for pair in (
                    (BEST, average),
                    (
                        "largest loss of the planned policy, in reward",
                        quiet(show(record.worst_gap, certainty=sure), noise),
                    ),
                    ("value reached", show(Certified(record.lower, record.upper))),
                    (
                        "value if told the model",
                        show(record.informed, certainty="certified"),
                    ),
                    ("average loss of the policy to run", estimated),
                )
                if pair[1].value is not None
            ),
            solver=record.solver,
            outcome=record.outcome,
            notes=tuple(
                (name, each.note) for name, each in others.items() if each.note
            ),
            left_out=record.notes,
        ),
        origin=origin_of(record),
        plots=oracle_plots(record, others, anchor),
        sheets=(
            *([_models(record, f"{anchor}-table-1")] if record.models else []),
            *([_others(record, others, f"{anchor}-table-2")] if others else []),
        ),
        cards=memory_cards(record.value_of_memory, record.memory, None, noise),
        certainties=certainties_of(
            record,
            (BEST, average),
            ("average loss of the policy to run", show(record.estimated_gap)),
            ("value of memory", quiet(show(record.value_of_memory), noise)),
            (
                "value of training on all models",
                quiet(show(record.value_of_randomization), noise),
            ),
            kind="oracle",
            least=average,
        ),
    )


def _length(record: Oracle) -> str:
    if record.horizon is not None:
        return f"{record.horizon} steps"
    return f"discount {number(record.discount)}"


def _headline(record: Oracle, average: ShownNumber) -> str:
    if average.value is None:
        return ""
    gap = record.average_gap
    nothing = average.text == "0"
    lost = "nothing" if nothing else between(gap, 4)
    part = "" if nothing else part_of_value(gap, record.informed)
    return (
        "The best agent that does not know which model is real loses "
        f"{lost} on average{part}."
    )


def _points(record: Oracle) -> tuple[str, ...]:
    points = []
    most = max(record.models, key=lambda each: each.gap, default=None)
    if most is not None and most.gap > record.noise:
        whole = f" of {number(most.optimal, 4)}" if most.optimal > 0.0 else ""
        points.append(
            "The policy planned by the oracle loses most in reward if "
            f"{shown(most.name)} is real: {number(most.gap, 4)}{whole}."
        )
    if record.estimated_gap is not None:
        found = quiet(show(record.estimated_gap, digits=4), record.noise)
        detail = f", {found.detail}" if found.detail else ""
        points.append(
            "The policy to run tracks which model is likely; it loses "
            f"{found.text} on average (estimated{detail})."
        )
    if record.memory is not None:
        points += record.memory.sentences()
    for worth, what in (
        (record.value_of_memory, "Memory"),
        (record.value_of_randomization, "Training on all models instead of one"),
    ):
        if worth is not None:
            points.append(f"{what} is worth {_worth(record, worth)} (certified).")
    return tuple(points)


def _worth(record: Oracle, bounds: Certified) -> str:
    if bounds.upper <= NEGLIGIBLE * abs(record.informed):
        return f"nothing, at most {number(bounds.upper, 2)}"
    return between(bounds, 4)


def _models(record: Oracle, key: str) -> Sheet:
    def plain(value: float | Certified | None, least: float = 0.0) -> ShownNumber:
        return replace(quiet(show(value, digits=6), least), certainty="")

    def word(field: str) -> str:
        return certainty_of(record.certainty.get(field))

    noise, parts = record.noise, all(each.optimal > 0.0 for each in record.models)

    def part(model: OracleModel) -> list[ShownNumber]:
        return [plain(model.relative_gap, noise / model.optimal)] if parts else []

    return sheet(
        key,
        "The policy planned by the oracle, if this model is real",
        (
            Heading("real model"),
            Heading("prior", "exact"),
            Heading("V*", word("optimal")),
            Heading("value", word("value")),
            Heading("gap", word("gap")),
            *([Heading("gap, part of V*", word("gap"))] if parts else []),
            Heading("gap of any optimal policy", word("gap_interval")),
        ),
        [
            (
                each.name,
                plain(each.prior),
                plain(each.optimal),
                plain(each.value),
                plain(each.gap, noise),
                *part(each),
                plain(each.gap_interval, noise),
            )
            for each in record.models
        ],
        note=ANY_OPTIMAL,
    )


def _others(record: Oracle, others: Mapping[str, BaselinePolicy], key: str) -> Sheet:
    noise = record.noise
    rows: list[tuple[str | ShownNumber, ...]] = [
        (
            "best possible",
            quiet(show(record.average_gap), noise),
            NOTHING,
            "knows the models, not which is real",
        ),
        (
            TRACKS,
            quiet(show(record.estimated_gap), noise),
            NOTHING,
            "the one to run: acts on what it believes (oracle-belief of simgap gap)",
        ),
    ]
    for name, each in others.items():
        label = evaluated(certainty_of(each.certainty))
        worst = quiet(show(each.worst_gap, certainty=label), noise)
        lost = quiet(show(each.average_gap, certainty=label), noise)
        rows.append((name, lost, worst, each.about))
    headings = (
        Heading("policy"),
        Heading("average gap"),
        Heading("worst gap, in reward"),
        Heading("what it is"),
    )
    title = "What simpler policies lose"
    return sheet(key, title, headings, rows, stacked=True)
