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
    least_loss,
    stake_of,
    widest_brackets,
)
from simgap.report.part import Card, Part
from simgap.report.parts.audit import AuditContent, Verdict
from simgap.report.parts.study_run import StudyContent
from simgap.report.parts.transfer import TransferContent
from simgap.report.plots import GroupPlot, Plot
from simgap.report.shown_number import certainty_of
from simgap.text import bracket, percent_of

MOST_CARDS = 4  # answers of one kind, as the widths of several parameters
CLAIM, RUN, CHECK, SWEEP = "claim.html", "run.html", "check.html", "sweep.html"
TRAINED = ("train.html", "blame_run.html", "identify_run.html", "width_run.html")
WITHOUT_TOP = {CLAIM, RUN, CHECK, SWEEP, *TRAINED}
TRANSFER = "transfer.html"
WARNING = ("adapt.html", CHECK, TRANSFER)  # templates of parts that may warn
MEASURED = {  # the cards of a transfer, six at most
    "loss": "Lost on average, at least",
    "mean": "Mean return",
    "worst": "The worst point",
    "region": "Where it fails",
    "parameter": "Which parameter",
    "beyond": "Beyond the range",
    "success": "Success",
    "measured": "Measured",
}
STUDIED = {  # the cards of a study of a simulator
    "memory": "What memory is worth",
    "information": "Lost for not knowing",
    "randomization": "What randomization is worth",
    "parameter": "Which parameter matters",
    "width": "How wide to randomize",
    "time": "How soon it finds out",
}
ELSEWHERE = {  # where more about them stands, and the command that answers them
    "parameter": ("blame_run.html", "simgap blame RUN"),
    "width": ("width_run.html", "simgap width SIMULATOR --randomize SPEC"),
    "time": ("identify_run.html", "simgap identify RUN"),
}


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
    picture: Plot | None  # that shows the verdict
    warnings: tuple[Entry, ...]
    scores: tuple[Score, ...]
    behind: str = "Every check behind it"
    question: str = "Will it transfer?"


def top_of(parts: Sequence[Part]) -> Top | None:
    """Return the top of a page; claims, runs and answers about trainings have none."""
    about = [p for p in parts if p.template not in WITHOUT_TOP]
    if not about:
        return None
    measured = about[0].content
    if isinstance(measured, StudyContent):
        return _studied(parts, about[0], measured)
    if isinstance(measured, TransferContent) and measured.verdict is not None:
        return _measured(parts, about[0], measured.verdict)
    audit = next((p for p in about if isinstance(p.content, AuditContent)), None)
    content = None if audit is None else audit.content
    verdict = content.verdict if isinstance(content, AuditContent) else None
    return Top(
        verdict=verdict,
        anchor="" if audit is None else audit.anchor,
        picture=_picture(about, audit),
        warnings=_entries(parts, "warning", WARNING),
        scores=(
            _least(about),
            *(_score(slot, about) for slot in SLOTS),
            _certainty(about),
        ),
    )


def _measured(parts: Sequence[Part], part: Part, verdict: Verdict) -> Top:
    """Return the top of the page of a transfer."""
    where = part.anchor, part.group
    return Top(
        verdict=verdict,
        anchor=part.anchor,
        picture=part.picture,
        warnings=_entries(parts, "warning", WARNING),
        scores=tuple(
            Score(MEASURED[card.slot], (Entry(card, *where),), "")
            for card in part.cards
            if card.slot in MEASURED
        ),
        behind="Every number behind it",
    )


def _studied(parts: Sequence[Part], part: Part, content: StudyContent) -> Top:
    """Return the top of the page of a study of a simulator."""
    picture = next((p.picture for p in parts if p.template == TRANSFER), None)
    homes = {each.template: each for each in reversed(parts)}
    cards = {each.slot: each for each in part.cards}

    def score(slot: str) -> Score:
        place, command = ELSEWHERE.get(slot, (TRANSFER, ""))
        home = homes.get(place, part)
        entries = [Entry(cards[slot], home.anchor, home.group)] if slot in cards else []
        return Score(STUDIED[slot], tuple(entries), command)

    return Top(
        verdict=content.verdict,
        anchor=part.anchor,
        picture=picture,
        warnings=_entries(parts, "warning", WARNING),
        scores=tuple(score(slot) for slot in STUDIED),
        behind="Every answer with its number",
        question=content.question,
    )


def _picture(parts: Sequence[Part], audit: Part | None) -> Plot | None:
    """Return the figure of the verdict: of every model if a record has them all."""
    about = None if audit is None else audit.certainties.episode
    found = [
        part
        for part in parts
        if part.picture is not None
        and (audit is None or part.certainties.episode == about)
    ]
    best = max(found, key=lambda part: part is not audit, default=None)
    if best is None or best.picture is None:
        return None
    own = None if audit is None else audit.picture
    if not isinstance(own, GroupPlot) or not isinstance(best.picture, GroupPlot):
        return best.picture
    return replace(best.picture, level=own.level, level_name=own.level_name)


def _least(parts: Sequence[Part]) -> Score:
    """Return the card of the best agent's loss, with all that the page knows of it."""
    title, command = "What the best agent loses", "simgap audit MODEL -H N --out DIR"
    part = next((part for part in parts if part.certainties.least is not None), None)
    if part is None or part.certainties.least is None:
        return Score(title, (), command)
    least, episode = part.certainties.least, part.certainties.episode
    known = least_loss(parts, episode)
    names = (part.line.what,) if known is None else known.records
    lower, upper = (least.lower, least.upper) if known is None else known.bounds.ends
    text = least.text
    if known is not None and text != "0":  # 0 but for rounding
        text = bracket(known.bounds, 5)
    share = percent_of(lower, upper, stake_of(parts, episode), "")
    by = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    by = by if len(names) <= MOST_CARDS else f"{len(names)} records"
    words = f"on average, as certified by {by}"
    if share:
        words = f"{AT_STAKE}: {text} {words}"
    card = Card("loss", share.strip() or text, least.certainty, words)
    return Score(title, (Entry(card, part.anchor, part.group),), command)


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
        Entry(card, part.anchor, part.group)
        for part in parts
        if part.template in homes
        for card in part.cards
        if card.slot == slot
    )


def _certainty(parts: Sequence[Part]) -> Score:
    """Return the card of the widest brackets on the page."""
    title, anchor, where = "Numerical certainty", "certainty", "How sure is this page?"
    found = widest_brackets(parts)
    if not found:
        return Score(title, (), "simgap oracle MODEL -H N --out DIR")
    first, *others = found
    kind = "interval" if first.certainty == "estimated" else "bracket"
    words = f"{first.against}, the widest {kind}: {first.name} ({first.record})"
    for each in others:
        words += f"; estimated: ± {each.half_width}"
    card = Card(
        "certainty", f"± {first.half_width}", certainty_of(first.certainty), words
    )
    return Score(title, (Entry(card, anchor, where),), "")
