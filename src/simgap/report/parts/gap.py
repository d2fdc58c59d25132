"""What each policy loses in each model that may be the real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.part import Line, Part, notes_of, origin_of, surety_of
from simgap.report.parts.horizons import horizon_plots
from simgap.report.parts.memory_card import memory_cards, memory_of
from simgap.report.parts.policy_names import policy_about, policy_name
from simgap.report.plots import Plot, short_names
from simgap.report.reading import as_list, as_object, as_objects, as_text, not_ours
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, evaluated, told
from simgap.text import shown, without_parameters

GROUP = "Policies in every real model"
MOST_CELLS = 9_000  # of the map
ROUNDING = 1e-9  # of what is at stake: 0 but for rounding
ORACLE = "oracle"
AT_STAKE = "at stake: what acting at random loses"
MOST_NAMED = 6  # policies in one sentence


@final
@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One policy and what it loses in every model."""

    name: str
    about: str
    certainty: str
    gaps: tuple[Told, ...]
    average: Told
    worst: Told


@final
@dataclass(frozen=True, slots=True)
class GapContent:
    """Everything the template draws about the gaps."""

    horizon: str
    models: int
    best: str  # the policy with the smallest average loss
    best_average: Told
    rivals: str  # policies that may lose less: their intervals meet its own
    left_out: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, Told], ...]
    notes: tuple[str, ...]


def gap_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `gap.json`."""
    policies = as_objects(record.get("policies"))
    names = _names(policies)
    noise = _noise(record)
    planned = any(each.get("name") == ORACLE for each in policies)
    rows = [_row(each, names, noise, planned=planned) for each in policies]
    optimal = as_list(record.get("optimal"))
    best = min(
        (each for each in rows if each.average.value is not None),
        key=lambda each: each.average.value or 0.0,
        default=None,
    )
    name, average = ("", NOTHING) if best is None else (best.name, best.average)
    rivals = [] if best is None else _rivals(best, rows)
    horizon = as_text(record.get("horizon")) or "?"
    plots: list[Plot] = [*horizon_plots(record, anchor)]
    if rows and names:
        plots.append(_plot(rows, names, f"{anchor}-figure-1"))
    sheets = [_averages(rows, names, f"{anchor}-table-1")] if rows else []
    if len(optimal) == len(names) and names:
        sheets.append(_optimal(names, optimal, f"{anchor}-table-2"))
    return Part(
        group=GROUP,
        template="gap.html",
        anchor=anchor,
        title=f"What is lost in {horizon} steps",
        line=Line(
            what="gap",
            about=f"{len(rows)} policies in {len(names)} real models",
            answer="",
            mood="plain",
            key_name=_key_name(name, rivals),
            key=average,
        ),
        content=GapContent(
            horizon=horizon,
            models=len(names),
            best=name,
            best_average=average,
            rivals=_listed(rivals),
            left_out=tuple(
                (shown(str(which)), as_text(why))
                for which, why in as_object(record.get("left_out")).items()
            ),
            facts=_facts(record),
            notes=notes_of(record),
        ),
        origin=origin_of(record),
        plots=tuple(plots),
        sheets=tuple(sheets),
        cards=memory_cards(
            record.get("value_of_memory"),
            memory_of(record),
            told(record.get("at_stake")).value,
        ),
        surety=surety_of(
            record,
            *((f"average loss of {each.name}", each.average) for each in rows),
            *(fact for fact in _facts(record) if fact[0] != AT_STAKE),
            kind="gap",
            stake=told(record.get("at_stake")).value,
            more=[(f"loss of {each.name}", each.average.certainty) for each in rows],
        ),
    )


def _rivals(best: PolicyRow, rows: Sequence[PolicyRow]) -> list[str]:
    """Return the policies whose average may be below the smallest one."""
    upper = best.average.upper
    return [
        each.name
        for each in rows
        if each is not best
        and upper is not None
        and each.average.lower is not None
        and each.average.lower < upper
    ]


def _key_name(name: str, rivals: Sequence[str]) -> str:
    if not name:
        return ""
    return f"smallest {'estimate' if rivals else 'average loss'}, {name}"


def _listed(names: Sequence[str]) -> str:
    """Return names as part of a sentence."""
    if len(names) > MOST_NAMED:
        more = len(names) - MOST_NAMED
        return f"{', '.join(names[:MOST_NAMED])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _facts(record: Mapping[str, Any]) -> tuple[tuple[str, Told], ...]:
    sure = as_object(record.get("certainty"))
    noise = _noise(record)
    found = [
        (
            name,
            told(record.get(key), certainty=certainty_of(sure.get(key)), noise=noise),
        )
        for key, name in (
            ("at_stake", AT_STAKE),
            ("value_of_memory", "value of memory"),
            ("value_of_randomization", "value of training on all models"),
        )
    ]
    return tuple((name, each) for name, each in found if each is not NOTHING)


def _names(policies: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the models: the same for every policy."""
    found = [
        [as_text(each.get("name")) or "?" for each in as_objects(policy.get("models"))]
        for policy in policies
    ]
    for names in found[1:]:
        if names != found[0]:
            raise not_ours(names[:3], "the same models for every policy")
    return found[0] if found else []


def _noise(record: Mapping[str, Any]) -> float:
    return ROUNDING * abs(told(record.get("at_stake")).value or 0.0)


def _row(
    policy: Mapping[str, Any], names: Sequence[str], noise: float, *, planned: bool
) -> PolicyRow:
    certainty = evaluated(certainty_of(policy.get("certainty")))
    about = as_text(policy.get("about"))
    gaps = tuple(
        told(each.get("gap"), certainty=certainty, noise=noise)
        for each in as_objects(policy.get("models"))
    )
    return PolicyRow(
        name=policy_name(as_text(policy.get("name")) or "?", about),
        about=policy_about(about, planned=planned),
        certainty=certainty,
        gaps=gaps or tuple(NOTHING for _ in names),
        average=told(policy.get("average"), certainty=certainty, noise=noise),
        worst=told(policy.get("worst"), certainty=certainty, noise=noise),
    )


def _plot(rows: Sequence[PolicyRow], names: Sequence[str], key: str) -> HeatPlot:
    short, what = without_parameters([shown(name) for name in names])
    kept = spread_out(len(names), max(2, MOST_CELLS // len(rows)))
    left = f" {len(kept)} of {len(names)} models are drawn." * (len(kept) < len(names))
    return HeatPlot(
        key=key,
        title="Every policy in every real model",
        row_axis="policy",
        column_axis=f"real model, by {shown(what, 40)}" if what else "real model",
        value="gap",
        rows=tuple(each.name for each in rows),
        columns=short_names([short[at] for at in kept]),
        cells=tuple(tuple(each.gaps[at] for at in kept) for each in rows),
        note="The further a colour is from that of the page, the more is lost. Rows "
        f"are policies, columns the model that is real.{left}",
    )


def _averages(rows: Sequence[PolicyRow], names: Sequence[str], key: str) -> Sheet:
    return sheet(
        key,
        "Average and worst loss",
        (
            Heading("policy"),
            Heading("average gap"),
            Heading("worst gap, in reward"),
            Heading("if this is real"),
            Heading("what it is"),
        ),
        [
            (each.name, each.average, each.worst, _worst(each, names), each.about)
            for each in rows
        ],
        stacked=True,
    )


def _worst(row: PolicyRow, names: Sequence[str]) -> str:
    known = [(each.value, at) for at, each in enumerate(row.gaps) if each.drawable]
    if not known:
        return "-"
    most = max(value for value, _ in known if value is not None)
    return names[next(at for value, at in known if value == most)]


def _optimal(names: Sequence[str], optimal: Sequence[Any], key: str) -> Sheet:
    return sheet(
        key,
        "What an agent gets that knows the model",
        (Heading("real model"), Heading("V*", "certified")),
        [
            (name, told(value, certainty="", digits=6))
            for name, value in zip(names, optimal, strict=True)
        ],
    )
