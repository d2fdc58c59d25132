"""What each policy loses in each model that may be the real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from simgap.records.files import damaged_record
from simgap.records.gap import Gap, PolicyGaps
from simgap.records.note import Note
from simgap.report.heat_plots import HeatPlot, spread_out
from simgap.report.part import Line, Part, certainties_of, origin_of
from simgap.report.parts.horizons import growth_plot, trained_plot
from simgap.report.parts.memory_card import memory_cards
from simgap.report.parts.verdict_plot import Losses, verdict_plot
from simgap.report.plots import short_names
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, certainty_of, show
from simgap.text import shown, without_parameters

GROUP = "Policies in every real model"
MOST_CELLS = 9_000  # of the map
ROUNDING = 1e-9  # of what is at stake: 0 but for rounding
NAMES = {"posterior-sampling": "posterior-sampling, by episode"}  # another is by step
AT_STAKE = "at stake: what acting at random loses"
MOST_IN_TABLE = 7  # models: the figure has them all
MOST_NAMED = 6  # policies in one sentence


@final
@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One policy and what it loses in every model."""

    name: str
    about: str
    gaps: tuple[ShownNumber, ...]
    average: ShownNumber
    worst: ShownNumber


@final
@dataclass(frozen=True, slots=True)
class GapContent:
    """Everything the template draws about the gaps."""

    horizon: str
    models: int
    best: str  # the policy with the smallest average loss
    best_average: ShownNumber
    rivals: str  # policies that may lose less: their intervals meet its own
    left_out: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]


def gap_part(record: Gap, anchor: str) -> Part:
    """Return the part of `gap.json`."""
    names, noise = record.names, ROUNDING * abs(record.at_stake)
    rows = [_row(each, names, noise) for each in record.policies]
    best = min(
        (each for each in rows if each.average.value is not None),
        key=lambda each: each.average.value or 0.0,
        default=None,
    )
    name, average = ("", NOTHING) if best is None else (best.name, best.average)
    rivals = [] if best is None else _rivals(best, rows)
    growth = growth_plot(record, f"{anchor}-growth")
    plots = (
        _plot(rows, names, f"{anchor}-figure-1") if rows and names else None,
        trained_plot(record, f"{anchor}-trained"),
    )
    sheets = [_averages(rows, names, f"{anchor}-table-1")] if rows else []
    few = rows and 1 < len(names) <= MOST_IN_TABLE
    instead = (_by_model(rows, names, f"{anchor}-models"),) if few else ()
    if len(record.optimal) == len(names) and names:
        sheets.append(_optimal(record, f"{anchor}-table-2"))
    facts = _facts(record, noise)
    return Part(
        group=GROUP,
        template="gap.html",
        anchor=anchor,
        title=f"What is lost in {record.horizon} steps",
        picture=verdict_plot(
            {
                each.name: Losses(row.average, row.gaps)
                for each, row in zip(record.policies, rows, strict=True)
            },
            names,
            f"{anchor}-verdict",
        ),
        line=Line(
            what="gap",
            about=f"{len(rows)} policies in {len(names)} real models",
            answer="",
            mood="plain",
            key_name=_key_name(name, rivals),
            key=average,
        ),
        content=GapContent(
            horizon=str(record.horizon),
            models=len(names),
            best=name,
            best_average=average,
            rivals=_listed(rivals),
            left_out=tuple(
                (shown(which), why) for which, why in record.left_out.items()
            ),
            facts=facts,
            notes=record.notes,
        ),
        origin=origin_of(record),
        plots=tuple(plot for plot in plots if plot is not None),
        theory_plots=() if growth is None else (growth,),
        sheets=tuple(sheets),
        instead=instead,
        cards=memory_cards(record.value_of_memory, record.memory, record.at_stake),
        certainties=certainties_of(
            record,
            *((f"average loss of {each.name}", each.average) for each in rows),
            *facts[1:],
            kind="gap",
            stake=record.at_stake,
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


def _facts(record: Gap, noise: float) -> tuple[tuple[str, ShownNumber], ...]:
    sure = certainty_of(record.certainty.get("at_stake"))
    found = (
        (AT_STAKE, show(record.at_stake, certainty=sure, noise=noise)),
        ("value of memory", show(record.value_of_memory, noise=noise)),
        (
            "value of training on all models",
            show(record.value_of_randomization, noise=noise),
        ),
    )
    return tuple((name, each) for name, each in found if each is not NOTHING)


def _row(policy: PolicyGaps, names: Sequence[str], noise: float) -> PolicyRow:
    own = [each.name for each in policy.models]
    if own != list(names):
        raise damaged_record(own[:3], "the same models for every policy")
    return PolicyRow(
        name=NAMES.get(policy.name) or shown(policy.name),
        about=policy.about,
        gaps=tuple(show(each.gap, noise=noise) for each in policy.models),
        average=show(policy.average, noise=noise),
        worst=show(policy.worst, noise=noise),
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


def _by_model(rows: Sequence[PolicyRow], names: Sequence[str], key: str) -> Sheet:
    short, what = without_parameters([shown(name) for name in names])
    return sheet(
        key,
        f"Loss by the model that is real{f': {shown(what, 40)}' if what else ''}",
        [Heading("policy"), *map(Heading, short)],
        [(each.name, *each.gaps) for each in rows],
    )


def _worst(row: PolicyRow, names: Sequence[str]) -> str:
    known = [(each.value, at) for at, each in enumerate(row.gaps) if each.drawable]
    if not known:
        return "-"
    most = max(value for value, _ in known if value is not None)
    return names[next(at for value, at in known if value == most)]


def _optimal(record: Gap, key: str) -> Sheet:
    return sheet(
        key,
        "What an agent gets that knows the model",
        (Heading("real model"), Heading("V*", "certified")),
        [
            (name, show(value, certainty="", digits=6))
            for name, value in zip(record.names, record.optimal, strict=True)
        ],
    )
