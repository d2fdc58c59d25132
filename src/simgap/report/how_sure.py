"""How sure a page is: what is exact, certified or estimated, and the widest bracket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import final

from simgap.intervals import Certified
from simgap.records.provenance import ON_GRID
from simgap.report.part import Part
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import CERTAINTIES, ShownNumber
from simgap.text import number

KEY = "record-certainty"
ROUNDING = 1e-9  # ends that are nearer are one
AT_STAKE = "of what random actions lose"
OF_ITSELF = "of its larger end"

COUNTED = (
    "A bracket is certified, an interval estimated. Counted are average losses, their "
    "shares and differences at the horizon of the record, as parts of what random "
    "actions lose if a record says that; steps are another unit, and a part of their "
    "larger end. Curves, maps and single models have their intervals where they stand."
)

Stakes = dict[tuple[str, str], float]


@final
@dataclass(frozen=True, slots=True)
class Width:
    """How far apart two ends are."""

    name: str
    record: str
    certainty: str
    share: float  # half of the distance, as a part of what is at stake or of an end
    against: str

    @property
    def half_width(self) -> str:
        """Return it in words."""
        if not isfinite(self.share):
            return "infinite"
        return "0 %" if self.share < ROUNDING else f"{number(100.0 * self.share, 2)} %"


@final
@dataclass(frozen=True, slots=True)
class Least:
    """The average loss of the best agent, from all records that certify it."""

    bounds: Certified
    records: tuple[str, ...]


def widest_brackets(parts: Sequence[Part]) -> tuple[Width, ...]:
    """Return the widest certified bracket of a page and the widest estimated one.

    Losses are compared, as parts of what is at stake; other units only if there are no
    losses. The table of `certainty_sheet` has the same brackets in its columns.
    """
    stakes = _stakes(parts)
    found = [width for part in parts for width in _widths(part, stakes)]
    losses = [width for width in found if width.against == AT_STAKE] or found
    certified = [width for width in losses if width.certainty != "estimated"]
    sampled = [width for width in losses if width.certainty == "estimated"]
    return tuple(max(each, key=_by_share) for each in (certified, sampled) if each)


def least_loss(parts: Sequence[Part], episode: tuple[str, str] | None) -> Least | None:
    """Return where all brackets of the best agent's average loss meet.

    Audit, oracle and blame each plan the class, and each certifies the same number.
    """
    found = [
        (part.line.what, part.certainties.least)
        for part in parts
        if part.certainties.least is not None and part.certainties.episode == episode
    ]
    lower = max((each.lower or 0.0 for _, each in found), default=inf)
    upper = min((_upper(each) for _, each in found), default=-inf)
    if not found or episode is None or lower > upper:  # damaged, or rounding alone
        return None
    return Least(Certified(lower, upper), tuple(dict.fromkeys(n for n, _ in found)))


def stake_of(parts: Sequence[Part], episode: tuple[str, str] | None) -> float | None:
    """Return what is at stake in episodes of a class, if a record says it."""
    return None if episode is None else _stakes(parts).get(episode)


def certainty_sheet(parts: Sequence[Part]) -> Sheet | None:
    """Return the table of what is how sure, a row for every record that says so."""
    found = [
        part for part in parts if part.certainties.labels or part.certainties.brackets
    ]
    if not found:
        return None
    stakes = _stakes(parts)
    used = {label for part in found for _, label in part.certainties.labels}
    labels = [word for word in CERTAINTIES if word != ON_GRID or word in used]
    headings = [Heading("record"), *(Heading(word) for word in labels)]
    headings += [Heading(f"widest {what}") for what in ("bracket", "interval")]
    headings += [Heading("how it was made")]
    rows: list[list[Cell]] = [
        [
            part.line.what,
            *(_labelled(part, word) for word in labels),
            _widest(part, stakes, sampled=False),
            _widest(part, stakes, sampled=True),
            "; ".join(f"{what}: {which}" for what, which in part.certainties.how)
            or "-",
        ]
        for part in found
    ]
    title = "What is exact, certified and estimated"
    return sheet(KEY, title, headings, rows, note=COUNTED, stacked=True)


def _upper(found: ShownNumber) -> float:
    return inf if found.upper is None else found.upper


def _labelled(part: Part, word: str) -> str:
    names = [name for name, label in part.certainties.labels if label == word]
    return "; ".join(dict.fromkeys(names)) or "-"


def _by_share(width: Width) -> float:
    return width.share


def _stakes(parts: Sequence[Part]) -> Stakes:
    """Return what is at stake by class and horizon: some records say it, others not."""
    return {
        part.certainties.episode: part.certainties.stake
        for part in parts
        if part.certainties.episode is not None and part.certainties.stake
    }


def _widest(part: Part, stakes: Stakes, *, sampled: bool) -> str:
    widths = [
        each
        for each in _widths(part, stakes)
        if (each.certainty == "estimated") is sampled
    ]
    found = max(widths, key=_by_share, default=None)
    if found is None:
        return "-"
    return f"± {found.half_width} {found.against} ({found.name})"


def _widths(part: Part, stakes: Stakes) -> list[Width]:
    own = part.certainties
    known = None if own.episode is None else stakes.get(own.episode)
    return [
        _width(part, name, each, own.stake or known)
        for name, each in own.brackets
        if each.text != "0"  # rounding alone
    ]


def _width(part: Part, name: str, each: ShownNumber, stake: float | None) -> Width:
    lower, upper = each.lower or 0.0, each.upper or 0.0
    whole = stake if stake else max(abs(lower), abs(upper))
    half = (upper - lower) / 2.0 if lower != upper else 0.0
    share = half / abs(whole) if whole else 0.0
    return Width(
        name=name,
        record=part.line.what,
        certainty=each.certainty,
        share=inf if isnan(share) else share,  # endless over endless
        against=AT_STAKE if stake else OF_ITSELF,
    )
