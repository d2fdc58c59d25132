"""What policies get over the parameters of a simulator, and where they fail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from simgap.records.note import Note
from simgap.records.transfer import LossRegion, Transfer, TransferPolicy
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.parts.audit import Verdict
from simgap.report.parts.transfer_plots import (
    gap_plots,
    map_plot,
    mean_plot,
    parameter_plots,
    shares_plot,
    success_plot,
    worths_plot,
)
from simgap.report.parts.transfer_words import (
    in_order,
    place,
    region_words,
    sure_words,
    transfer_verdict,
    worst_number,
)
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, ShownNumber, show
from simgap.text import (
    counted,
    listed,
    number,
    percent_at_least,
    percent_at_most,
    percent_between,
    shown,
)

GROUP = "Policies over the parameters of the simulator"
FEW_POINTS = (
    "Which parameter matters, and a map of the loss, are not known: the points do not "
    "tell. A note below says why."
)


@final
@dataclass(frozen=True, slots=True)
class TransferContent:
    """Everything the template draws about a transfer."""

    verdict: Verdict | None
    regions: tuple[str, ...]  # where each policy loses more than matters
    not_mapped: str  # why there is no map, empty if there is one
    sure: tuple[str, ...]  # how the numbers were made
    facts: tuple[tuple[str, ShownNumber], ...]
    notes: tuple[Note, ...]


def transfer_part(record: Transfer, anchor: str) -> Part:
    """Return the part of `transfer.json`."""
    policy, answer = record.main_policy, transfer_verdict(record)
    maps = [
        map_plot(record, each, f"{anchor}-map-{at}")
        for at, each in enumerate(record.maps, start=1)
    ]
    drawn = [each for each in maps if each is not None]
    lost = gap_plots(record, anchor)
    pictures = [*lost, *drawn]
    plots = (
        *drawn,
        worths_plot(record, f"{anchor}-worths"),
        *lost,
        *parameter_plots(record, anchor),
        shares_plot(record, f"{anchor}-shares"),
        mean_plot(record, f"{anchor}-means"),
        success_plot(record, f"{anchor}-success"),
    )
    names = listed([each.name for each in record.policies])
    mean = NOTHING if policy is None else show(policy.gap or policy.mean, digits=4)
    has_gap = policy is not None and policy.gap is not None
    regions = [
        region_words(record, each) for each in record.policies if each.gap is not None
    ]
    return Part(
        group=GROUP,
        template="transfer.html",
        anchor=anchor,
        title=f"Returns of {names}",
        line=Line(
            what="transfer",
            about=f"{counted(record.episodes, 'episode')}, {shown(record.randomize)}",
            answer="" if answer is None else answer.answer,
            mood="plain" if answer is None else answer.mood,
            key_name="lost on average, at least" if has_gap else "mean return",
            key=mean,
        ),
        content=TransferContent(
            verdict=answer,
            regions=tuple(f"{each}." for each in regions if each),
            not_mapped="" if drawn else FEW_POINTS,
            sure=sure_words(record),
            facts=_facts(record),
            notes=record.notes,
        ),
        origin=replace(origin_of(record), randomized=listed(in_order(record))),
        plots=tuple(each for each in plots if each is not None),
        sheets=_sheets(record, anchor),
        cards=() if policy is None else _cards(record, policy),
        certainties=certainties_of(
            record,
            *(
                pair
                for each in record.policies
                for pair in (
                    (f"mean return of {shown(each.name, 40)}", show(each.mean)),
                    (f"average loss of {shown(each.name, 40)}", show(each.gap)),
                )
            ),
            kind="transfer",
            gaps=False,
        ),
        picture=pictures[0] if pictures else None,
    )


def _facts(record: Transfer) -> tuple[tuple[str, ShownNumber], ...]:
    found = (
        ("episodes", show(record.episodes, certainty="exact", digits=9)),
        ("steps of the simulator", show(record.steps, certainty="exact", digits=12)),
        ("broken episodes", show(len(record.failures), certainty="exact", digits=9)),
        ("value of memory", show(record.value_of_memory, digits=4)),
    )
    return tuple((name, each) for name, each in found if each is not NOTHING)


def _cards(record: Transfer, policy: TransferPolicy) -> tuple[Card, ...]:
    """Return at most six cards, and a warning if episodes broke."""
    order = in_order(record)
    cards = [_loss_card(record, policy), _worst_card(policy, order)]
    if (region := policy.region) is not None and policy.gap is not None:
        cards.append(_region_card(region))
    if record.parameters:
        first = record.parameters[0]
        what = "the loss" if record.references else "the return"
        words = f"{percent_between(first.share)} of the variance of {what}, alone"
        cards.append(Card("parameter", shown(first.name, 40), "estimated", words))
    if policy.beyond is not None:
        inside = show(policy.mean, digits=4)
        beyond = show(policy.beyond, digits=4)
        words = f"mean return there ({beyond.detail}); {inside.text} inside"
        cards.append(Card("beyond", beyond.text, beyond.certainty, words))
    cards.append(_last_card(record, policy))
    if record.failures:
        first_broken = record.failures[0]
        words = (
            f"the first at {place(first_broken.theta, order)}, step "
            f"{first_broken.step}: {shown(first_broken.text, 160)}"
        )
        broken = f"{counted(len(record.failures), 'episode')} broke"
        cards.append(Card("warning", broken, "", words))
    return tuple(cards)


def _loss_card(record: Transfer, policy: TransferPolicy) -> Card:
    name = shown(policy.name, 40)
    if policy.gap is None:
        mean = show(policy.mean, digits=4)
        words = f"of {name}: {mean.detail}"
        return Card("mean", mean.text, mean.certainty, words)
    lost = show(policy.gap, digits=4)
    against = listed(record.references)
    words = f"{name} against {against}: {lost.detail}"
    return Card("loss", lost.text, lost.certainty, words)


def _worst_card(policy: TransferPolicy, order: tuple[str, ...]) -> Card:
    found = policy.worst_gap or policy.worst
    told = worst_number(found)
    what = "return" if policy.worst_gap is None else "lost"
    words = f"{what} at {place(found.theta, order)} ({told.detail})"
    return Card("worst", told.text, told.certainty, words)


def _region_card(region: LossRegion) -> Card:
    limit = f"more than {number(region.threshold, 4)} is lost"
    if region.certain == 0.0 and region.possible == 1.0:
        words = f"where {limit}: more episodes would tell"
        return Card("region", "not known", "", words)
    share = f"at least {percent_at_least(region.certain)}"
    if region.possible < 1.0:
        most = percent_at_most(region.possible)
        share = f"{percent_at_least(region.certain)} to {most}"
    return Card("region", share, "estimated", f"of the points: {limit} there")


def _last_card(record: Transfer, policy: TransferPolicy) -> Card:
    """Return how often it succeeds, or how much was measured."""
    if policy.success is not None:
        words = f"of the episodes of {shown(policy.name, 40)}, over the range"
        return Card("success", percent_between(policy.success), "estimated", words)
    points = len(policy.points)
    broken = len(record.failures) or "none"
    words = f"at {counted(points, 'point')}; {broken} of them broke"
    return Card("measured", counted(record.episodes, "episode"), "exact", words)


def _sheets(record: Transfer, anchor: str) -> tuple[Sheet, ...]:
    found = [_policies(record, f"{anchor}-table-1")]
    if record.parameters:
        found.append(_shares(record, f"{anchor}-table-2"))
    found.append(_points(record, f"{anchor}-table-3"))
    if record.failures:
        found.append(_broken(record, f"{anchor}-table-4"))
    return tuple(found)


def _policies(record: Transfer, key: str) -> Sheet:
    heads = ("mean return", "beyond the range", "succeeds", "least return", "where")
    more = ("lost, mean", "lost, worst", "lost most at", "trainings", "broken")
    order = in_order(record)

    def row(each: TransferPolicy) -> list[Cell]:
        most = each.worst_gap
        return [
            f"{each.name} (reference)" if each.is_reference else each.name,
            show(each.mean, digits=4),
            show(each.beyond, digits=4),
            show(each.success, digits=3),
            worst_number(each.worst),
            place(each.worst.theta, order),
            show(each.gap, digits=4),
            NOTHING if most is None else worst_number(most),
            "-" if most is None else place(most.theta, order),
            each.training_seeds,
            each.broken,
        ]

    headings = [Heading("policy"), *(Heading(head) for head in (*heads, *more))]
    return sheet(
        key, "Every policy", headings, [row(p) for p in record.policies], stacked=True
    )


def _shares(record: Transfer, key: str) -> Sheet:
    headings = [Heading("parameter"), Heading("alone"), Heading("with others")]
    return sheet(
        key,
        "Share of the variance of the loss, by parameter and pair",
        headings,
        [
            (each.name, show(each.share, digits=3), show(each.total, digits=3))
            for each in (*record.parameters, *record.pairs)
        ],
        note="Parts of 1. A pair: what only both together explain.",
    )


def _points(record: Transfer, key: str) -> Sheet:
    order = in_order(record)
    headings = [Heading("policy"), *(Heading(name, "exact") for name in order)]
    headings += [Heading("in the range"), Heading("return"), Heading("lost")]
    headings += [Heading("succeeds"), Heading("episodes"), Heading("broken")]
    rows: list[list[Cell]] = [
        [
            policy.name,
            *(point.theta.get(name) for name in order),
            "yes" if point.inside else "no",
            show(point.returned, digits=4),
            show(point.gap, digits=4),
            show(point.success, digits=3),
            point.episodes,
            point.broken,
        ]
        for policy in record.policies
        for point in policy.points
    ]
    return sheet(key, "Every policy at every point", headings, rows)


def _broken(record: Transfer, key: str) -> Sheet:
    heads = ("policy", "where", "training", "episode", "step", "code", "what happened")
    order = in_order(record)
    return sheet(
        key,
        "Episodes that broke",
        [Heading(head) for head in heads],
        [
            (
                each.policy,
                place(each.theta, order),
                each.training_seed,
                each.episode,
                each.step,
                each.code,
                each.text,
            )
            for each in record.failures
        ],
        stacked=True,
    )
