"""What a part of the page is: a record turned into words, figures and tables.

A part is made by one module in `parts` and drawn by the template of the same name. It
holds what is to be drawn and nothing that has to be worked out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, final

from simgap.records.provenance import Provenance
from simgap.report.certainty_words import LOSSES, name_of
from simgap.report.plots import Plot
from simgap.report.sheet import Sheet
from simgap.report.shown_number import ShownNumber, certainty_of, evaluated
from simgap.text import shown

HOW = (
    "solver",
    "method",
    "outcome",
    "gap_tolerance",
    "tolerance",
    "permutations",
    "error",
    "false_alarm",
    "seeds",
)
KNOWN = ("exact", "certified")


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One line of the overview."""

    what: str
    about: str
    answer: str
    mood: str  # good, bad, open or plain: its colour and its sign
    key_name: str
    key: ShownNumber


@final
@dataclass(frozen=True, slots=True)
class Card:
    """What a record says on one card of the scorecard."""

    slot: str  # which card, as in `scorecard.SLOTS`
    value: str
    certainty: str
    words: str


@final
@dataclass(frozen=True, slots=True)
class Certainties:
    """How sure the numbers of a record are, and how they were made."""

    labels: tuple[tuple[str, str], ...]  # name of a number, word of certainty
    brackets: tuple[tuple[str, ShownNumber], ...]  # numbers with two ends
    how: tuple[tuple[str, str], ...]  # solver, tolerance, outcome
    stake: float | None = None  # what there is to lose; brackets are compared with it
    episode: tuple[str, str] | None = None  # class and horizon, if brackets are gaps
    least: ShownNumber | None = (
        None  # certified bracket of the best agent's average loss
    )


@final
@dataclass(frozen=True, slots=True)
class Origin:
    """What somebody else needs to get the same numbers again."""

    command: str
    facts: tuple[tuple[str, str], ...]  # seed, scale, model and its hash
    versions: tuple[tuple[str, str], ...]
    horizon: str = ""
    models: int = 0  # in the class; 0: not said
    names: tuple[str, ...] = ()  # of all models or of some
    randomized: str = ""  # parameters of a simulator, in words

    @property
    def model(self) -> str:
        """Return the class as the command names it."""
        return dict(self.facts).get("model", "")


NOT_SAID = Certainties((), (), ())


@final
@dataclass(frozen=True, slots=True)
class Part:
    """A record as the page shows it."""

    group: str  # the heading it stands under
    template: str
    anchor: str
    title: str
    line: Line
    content: object  # a record of its own, known to the template
    origin: Origin
    plots: tuple[Plot, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    instead: tuple[Sheet, ...] = ()  # of figures, where none can be drawn
    cards: tuple[Card, ...] = ()
    certainties: Certainties = NOT_SAID
    picture: Plot | None = None  # of the verdict, for the top of the page
    theory: tuple[str, ...] = ()  # what theorems of the paper say of this class
    theory_plots: tuple[Plot, ...] = ()


class Answer(Protocol):
    """What a part needs of a record beside its own numbers."""

    @property
    def provenance(self) -> Provenance: ...

    @property
    def certainty(self) -> Mapping[str, str]: ...


def origin_of(record: Answer) -> Origin:
    """Return where the record of a verb comes from."""
    names, models = _names(record), getattr(record, "models", None)
    horizon = getattr(record, "horizon", None)
    return Origin(
        command=record.provenance.command,
        facts=_pairs(record.provenance, ("model", "model_hash", "grid", "seed")),
        versions=_pairs(record.provenance, ("simgap", "python", "numpy")),
        horizon="" if horizon is None else str(horizon),
        models=models if isinstance(models, int) else len(names),
        names=names,
    )


def _names(record: Answer) -> tuple[str, ...]:
    """Return the names of models, wherever the record has them."""
    models = getattr(record, "models", None)
    if isinstance(models, tuple):
        return tuple(each.name for each in models)
    separation = getattr(record, "separation", None)
    found = getattr(record, "names", None) or getattr(separation, "pair_names", None)
    return tuple(found or ())


def certainties_of(
    record: Answer,
    *brackets: tuple[str, ShownNumber],
    kind: str,
    stake: float | None = None,
    gaps: bool = True,
    least: ShownNumber | None = None,
    more: Sequence[tuple[str, str]] = (),
) -> Certainties:
    """Return how sure a record of a verb is of its numbers; `gaps` are in rewards.

    `more` are names and words of certainty that stand elsewhere in the record.
    """
    horizon = getattr(record, "horizon", None)
    episode = record.provenance.model_hash, "" if horizon is None else str(horizon)
    return Certainties(
        labels=tuple(
            (
                shown(name_of(name, kind)),
                evaluated(certainty_of(word)) if name in LOSSES else certainty_of(word),
            )
            for name, word in record.certainty.items()
        )
        + tuple(more),
        brackets=tuple(pair for pair in brackets if pair[1].value is not None),
        how=_pairs(record, HOW),
        stake=stake,
        episode=episode if gaps and all(episode) else None,
        least=least if least is not None and least.certainty in KNOWN else None,
    )


def _pairs(source: object, keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
    found = ((key.replace("_", " "), getattr(source, key, None)) for key in keys)
    return tuple(
        (name, f"{value:g}" if isinstance(value, float) else str(value))
        for name, value in found
        if value is not None and value != ""
    )
