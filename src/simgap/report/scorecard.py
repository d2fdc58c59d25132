"""The top of a page: one verdict, and six numbers to remember, each with its part.

Nothing is worked out here: each part says what it has for a card, and a card that no
part fills says which command would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from simgap.report.how_sure import (
    AT_STAKE,
    Width,
    least_loss,
    stake_of,
    widest_brackets,
)
from simgap.report.part import Card, Part
from simgap.report.parts.audit import AuditContent, Verdict
from simgap.report.shown_number import certainty_of
from simgap.text import bracket, percent_of

MOST_CARDS = 4  # answers of one kind, as the widths of several parameters
CLAIM, RUN = "claim.html", "run.html"


@final
@dataclass(frozen=True, slots=True)
class Slot:
    """One card of the scorecard."""

    name: str
    title: str
    homes: tuple[str, ...]  # templates of the parts that fill it, the best first
    command: str  # what fills it if nothing does


SLOTS = (
    Slot(
        "transfer",
        "Will it transfer?",
        ("audit.html", "oracle.html"),
        "simgap audit MODEL -H N --out DIR",
    ),
    Slot(
        "memory",
        "Value of memory",
        ("gap.html", "audit.html", "oracle.html"),
        "simgap oracle MODEL -H N --out DIR",
    ),
    Slot(
        "identify",
        "Telling models apart",
        ("identify.html", "audit.html"),
        "simgap identify MODEL -H N --out DIR",
    ),
    Slot(
        "width",
        "How wide to randomize",
        ("width.html",),
        "simgap width MODEL -H N --param NAME --out DIR",
    ),
    Slot(
        "blame",
        "What causes the loss",
        ("blame.html",),
        "simgap blame MODEL -H N --out DIR",
    ),
)


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """What a card says, and where more about it stands."""

    card: Card
    anchor: str
    where: str  # the heading of that part


@final
@dataclass(frozen=True, slots=True)
class Score:
    """A card as it stands on the page."""

    title: str
    entries: tuple[Entry, ...]
    command: str


@final
@dataclass(frozen=True, slots=True)
class Top:
    """What a reader sees first."""

    verdict: Verdict | None  # None: nobody has asked for one
    anchor: str  # of the part behind the verdict
    warnings: tuple[Entry, ...]
    scores: tuple[Score, ...]


def top_of(parts: Sequence[Part]) -> Top | None:
    """Return the top of a page; claims and runs alone have none."""
    about = [part for part in parts if part.template not in {CLAIM, RUN}]
    if not about:
        return None
    audit = next((p for p in about if isinstance(p.content, AuditContent)), None)
    return Top(
        verdict=audit.content.verdict
        if audit is not None and isinstance(audit.content, AuditContent)
        else None,
        anchor="" if audit is None else audit.anchor,
        warnings=_entries(about, "warning", ("adapt.html",)),
        scores=(*(_score(slot, about) for slot in SLOTS), _certainty(about)),
    )


def _score(slot: Slot, parts: Sequence[Part]) -> Score:
    for home in slot.homes:
        found = _entries(parts, slot.name, (home,))
        if found:
            return Score(slot.title, found[:MOST_CARDS], slot.command)
    return Score(slot.title, (), slot.command)


def _entries(
    parts: Sequence[Part], slot: str, homes: tuple[str, ...]
) -> tuple[Entry, ...]:
    return tuple(
        Entry(_met(card, part, parts), part.anchor, part.group)
        for part in parts
        if part.template in homes
        for card in part.cards
        if card.slot == slot
    )


def _met(card: Card, part: Part, parts: Sequence[Part]) -> Card:
    """Return the card of the verdict with all that the page knows of the loss."""
    episode = part.surety.episode
    least = least_loss(parts, episode)
    if card.slot != "transfer" or least is None or len(least.records) < 2:
        return card
    ends, stake = least.bounds, stake_of(parts, episode)
    share = percent_of(ends.lower, ends.upper, stake, "of what is at stake")
    lost = f"{share}: {bracket(ends, 5)}" if share else bracket(ends, 5)
    names = least.records
    sources = f"{', '.join(names[:-1])} and {names[-1]}"
    sources = sources if len(names) <= MOST_CARDS else f"{len(names)} records"
    words = f"the best agent loses {lost} on average, as {sources} certify"
    if card.certainty and part.template == "oracle.html":
        return replace(card, value=bracket(ends, 5), words=words)
    return replace(card, words=words)


def _certainty(parts: Sequence[Part]) -> Score:
    """Return the card of the widest brackets on the page."""
    title, anchor, where = "Numerical certainty", "certainty", "How sure is this page?"
    found = widest_brackets(parts)
    if not found:
        return Score(title, (), "simgap oracle MODEL -H N --out DIR")
    first, *others = found
    words = f"{first.against}: {_kind(first)}, {first.name} ({first.record})"
    for each in others:
        words += f"; {_kind(each)} ± {each.half_width}, {each.name} ({each.record})"
    card = Card(
        "certainty", f"± {first.half_width}", certainty_of(first.certainty), words
    )
    return Score(title, (Entry(card, anchor, where),), "")


def _kind(found: Width) -> str:
    what = "loss" if found.against == AT_STAKE else "number"
    if found.certainty == "estimated":
        return f"widest estimated interval of a {what}"
    return f"widest bracket of a {what}"
