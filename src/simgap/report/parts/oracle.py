"""The oracle: will it transfer? Verdict, who loses what, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.report.part import Card, Line, Part, origin_of, surety_of
from simgap.report.parts.memory_card import memory_cards, memory_of
from simgap.report.parts.oracle_plots import average_gap, oracle_plots
from simgap.report.parts.policy_names import TRACKS, policy_about, policy_name
from simgap.report.reading import (
    as_object,
    as_objects,
    as_text,
    bounds_of,
    known,
    number,
)
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import (
    NOTHING,
    Told,
    certainty_of,
    evaluated,
    quiet,
    told,
)
from simgap.text import between, counted, number as number_shown, part_of_value, shown

GROUP = "The best agent there can be"
BEST = "average loss of the best agent"
ANY_OPTIMAL = (
    "The last column holds what any policy of the least average loss loses there. No "
    "gap is negative, so that it is at most the average over the weight of the model: "
    "where the solver knows no more, models of one weight have the same ends."
)
INFORMED = "informed"  # the yardstick itself: it loses nothing by definition
NEGLIGIBLE = 1e-9  # of what could be had: nothing, in words


@final
@dataclass(frozen=True, slots=True)
class OracleContent:
    """Everything the template draws about the oracle."""

    headline: str
    points: tuple[str, ...]
    average: Told
    value: Told
    informed: Told
    estimated: Told
    worst: Told
    solver: str
    outcome: str
    notes: tuple[tuple[str, str], ...]  # of simpler policies


def oracle_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `oracle.json`."""
    models = as_objects(record.get("models"))
    noise = 10.0 * number(record["rounding"]) if known(record, "rounding") else 0.0
    sure = as_object(record.get("certainty"))
    others = {
        _named(str(name), as_object(each)): as_object(each)
        for name, each in as_object(record.get("baselines")).items()
        if name != INFORMED
    }
    average = quiet(told(record.get("average_gap")), noise)
    sheets = (
        _models(models, noise, sure, f"{anchor}-table-1"),
        _others(average, record, others, noise, f"{anchor}-table-2"),
    )
    model = as_text(as_object(record.get("provenance")).get("model"))
    return Part(
        group=GROUP,
        template="oracle.html",
        anchor=anchor,
        title=shown(model, 120) if model else "The oracle",
        line=Line(
            what="oracle",
            about=f"{counted(len(models), 'model')}, {_length(record)}",
            answer=as_text(record.get("outcome")),
            mood="plain",
            key_name=BEST if average.text != "-" else "",
            key=average,
        ),
        content=OracleContent(
            headline=_headline(record, average),
            points=_points(record, models, noise),
            average=average,
            value=told({key: record.get(key) for key in ("lower", "upper")}),
            informed=told(record.get("informed"), certainty="certified"),
            estimated=quiet(told(record.get("estimated_gap")), noise),
            worst=quiet(
                told(
                    record.get("worst_gap"),
                    certainty=certainty_of(sure.get("worst_gap")),
                ),
                noise,
            ),
            solver=as_text(record.get("solver")),
            outcome=as_text(record.get("outcome")),
            notes=tuple(
                (name, as_text(each.get("note")))
                for name, each in others.items()
                if each.get("note")
            ),
        ),
        origin=origin_of(record),
        plots=oracle_plots(record, others, noise, anchor),
        sheets=tuple(each for each in sheets if each is not None),
        cards=_cards(record, average, noise),
        surety=surety_of(
            record,
            (BEST, average),
            ("average loss of the policy to run", told(record.get("estimated_gap"))),
            *(
                (what, quiet(told(record.get(key)), noise))
                for key, what in (
                    ("value_of_memory", "value of memory"),
                    ("value_of_randomization", "value of training on all models"),
                )
            ),
            kind="oracle",
            least=average,
        ),
    )


def _named(name: str, baseline: Mapping[str, Any]) -> str:
    return policy_name(name, as_text(baseline.get("about")))


def _cards(record: Mapping[str, Any], average: Told, noise: float) -> tuple[Card, ...]:
    cards = []
    if average.value is not None:
        words = "average loss of the best agent that is not told the model"
        cards.append(Card("transfer", average.text, average.certainty, words))
    cards += memory_cards(record.get("value_of_memory"), memory_of(record), None, noise)
    return tuple(cards)


def _length(record: Mapping[str, Any]) -> str:
    if record.get("horizon") is not None:
        return f"{as_text(record['horizon'])} steps"
    discount = as_text(record.get("discount"))
    return f"discount {discount}" if discount else "no length in the record"


def _headline(record: Mapping[str, Any], average: Told) -> str:
    if average.value is None:
        return ""
    bounds = bounds_of(record["average_gap"])
    lost = "nothing" if average.text == "0" else between(bounds, 4)
    whole = record.get("informed")
    return (
        "The best agent that does not know which model is real loses "
        f"{lost} on average"
        + (
            ""
            if whole is None or average.text == "0"
            else part_of_value(bounds, number(whole))
        )
        + "."
    )


def _points(
    record: Mapping[str, Any], models: Sequence[Mapping[str, Any]], noise: float
) -> tuple[str, ...]:
    points = []
    gaps = [
        (number(each["gap"]), each)
        for each in models
        if known(each, "gap") and not isinstance(each["gap"], Mapping)
    ]
    if gaps:
        most, where = max(gaps, key=lambda pair: pair[0])
        if most > noise:
            name = shown(as_text(where.get("name")) or "?")
            points.append(
                f"The policy planned by the oracle loses most in reward if {name} is "
                f"real: {number_shown(most, 4)}{_of_optimal(where)}."
            )
    found = quiet(told(record.get("estimated_gap"), digits=4), noise)
    if found.value is not None:
        points.append(
            "The policy to run tracks which model is likely; it loses "
            f"{found.text} on average (estimated{_in(found)})."
        )
    if (memory := memory_of(record)) is not None:
        points += memory.sentences()
    for key, what in (
        ("value_of_memory", "Memory"),
        ("value_of_randomization", "Training on all models instead of one"),
    ):
        if known(record, key):
            points.append(f"{what} is worth {_worth(record, key)} (certified).")
    return tuple(points)


def _of_optimal(model: Mapping[str, Any]) -> str:
    """Return what there was to have, where 0 is the least there is."""
    if not known(model, "optimal") or number(model["optimal"]) <= 0.0:
        return ""
    return f" of {number_shown(number(model['optimal']), 4)}"


def _worth(record: Mapping[str, Any], key: str) -> str:
    bounds, whole = bounds_of(record[key]), told(record.get("informed")).value
    small = NEGLIGIBLE * abs(whole) if whole is not None else 0.0
    if bounds.upper is not None and bounds.upper <= small:
        return f"nothing, at most {number_shown(bounds.upper, 2)}"
    return between(bounds, 4)


def _in(found: Told) -> str:
    return f", {found.detail}" if found.detail else ""


def _models(
    models: Sequence[Mapping[str, Any]],
    noise: float,
    sure: Mapping[str, Any],
    key: str,
) -> Sheet | None:
    if not models:
        return None

    def plain(model: Mapping[str, Any], field: str, least: float = 0.0) -> Told:
        found = told(model.get(field), digits=6)
        return replace(quiet(found, least), certainty="")

    def word(field: str) -> str:
        return certainty_of(sure.get(field))

    parts = all(known(each, "optimal") and _optimal(each) > 0.0 for each in models)
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
                as_text(each.get("name")) or "?",
                plain(each, "prior"),
                plain(each, "optimal"),
                plain(each, "value"),
                plain(each, "gap", noise),
                *(
                    [plain(each, "relative_gap", noise / _optimal(each))]
                    if parts
                    else []
                ),
                plain(each, "gap_interval", noise),
            )
            for each in models
        ],
        note=ANY_OPTIMAL if any(known(m, "gap_interval") for m in models) else "",
    )


def _optimal(model: Mapping[str, Any]) -> float:
    return told(model.get("optimal")).value or 0.0


def _others(
    average: Told,
    record: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    noise: float,
    key: str,
) -> Sheet | None:
    if not others:
        return None
    rows: list[tuple[str | Told, ...]] = [
        ("best possible", average, NOTHING, "knows the models, not which is real"),
        (
            TRACKS,
            quiet(told(record.get("estimated_gap")), noise),
            NOTHING,
            "the one to run: acts on what it believes (oracle-belief of simgap gap)",
        ),
    ]
    for name, each in others.items():
        label = evaluated(certainty_of(each.get("certainty")))
        worst = quiet(told(each.get("worst_gap"), certainty=label), noise)
        lost = quiet(average_gap(each), noise)
        about = policy_about(as_text(each.get("about")), planned=True)
        rows.append((name, lost, worst, about))
    headings = (
        Heading("policy"),
        Heading("average gap"),
        Heading("worst gap, in reward"),
        Heading("what it is"),
    )
    title = "What simpler policies lose"
    return sheet(key, title, headings, rows, stacked=True)
