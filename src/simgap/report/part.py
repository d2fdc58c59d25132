"""What a part of the page is: a record turned into words, figures and tables.

A part is made by one module in `parts` and drawn by the template of the same name. It
holds what is to be drawn and nothing that has to be worked out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.records import Record, plain
from simgap.report.certainty_words import LOSSES, name_of
from simgap.report.plots import GroupPlot, Plot
from simgap.report.reading import as_list, as_object, as_text
from simgap.report.sheet import Sheet
from simgap.report.shown_number import Told, certainty_of, evaluated
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
    key: Told


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
class Surety:
    """How sure the numbers of a record are, and how they were made."""

    labels: tuple[tuple[str, str], ...]  # name of a number, word of certainty
    brackets: tuple[tuple[str, Told], ...]  # numbers with two ends
    how: tuple[tuple[str, str], ...]  # solver, tolerance, outcome
    stake: float | None = None  # what there is to lose; brackets are compared with it
    episode: tuple[str, str] | None = None  # class and horizon, if brackets are gaps
    least: Told | None = None  # certified bracket of the best agent's average loss


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

    @property
    def model(self) -> str:
        """Return the class as the command names it."""
        return dict(self.facts).get("model", "")


NOT_SAID = Surety((), (), ())


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
    cards: tuple[Card, ...] = ()
    surety: Surety = NOT_SAID
    picture: GroupPlot | None = None  # of the verdict, for the top of the page
    theory: tuple[str, ...] = ()  # what theorems of the paper say of this class
    theory_plots: tuple[Plot, ...] = ()


def origin_of(record: Mapping[str, Any] | Record) -> Origin:
    """Return where the record of a verb comes from."""
    record = _object(record)
    source = as_object(record.get("provenance"))
    return Origin(
        command=as_text(source.get("command")),
        facts=_pairs(source, ("model", "model_hash", "grid", "seed")),
        versions=_pairs(source, ("simgap", "python", "numpy")),
        horizon=as_text(record.get("horizon")),
        models=_count(record),
        names=_names(record),
    )


def _names(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of models, wherever the record has them."""
    for names in (
        record.get("names"),
        as_object(record.get("separation")).get("pair_names"),
    ):
        if isinstance(names, list):
            return tuple(as_text(each) for each in names)
    models = record.get("models")
    if isinstance(models, list):
        return tuple(as_text(as_object(each).get("name")) for each in models)
    return ()


def _count(record: Mapping[str, Any]) -> int:
    models = record.get("models")
    return models if isinstance(models, int) else len(_names(record))


def surety_of(
    record: Mapping[str, Any] | Record,
    *brackets: tuple[str, Told],
    kind: str,
    stake: float | None = None,
    gaps: bool = True,
    least: Told | None = None,
    more: Sequence[tuple[str, str]] = (),
) -> Surety:
    """Return how sure a record of a verb is of its numbers; `gaps` are in rewards.

    `more` are names and words of certainty that stand elsewhere in the record.
    """
    record = _object(record)
    labels = as_object(record.get("certainty"))
    source = as_object(record.get("provenance"))
    episode = as_text(source.get("model_hash")), as_text(record.get("horizon"))
    return Surety(
        labels=tuple(
            (
                shown(name_of(str(name), kind)),
                evaluated(certainty_of(word)) if name in LOSSES else certainty_of(word),
            )
            for name, word in labels.items()
        )
        + tuple(more),
        brackets=tuple(pair for pair in brackets if pair[1].value is not None),
        how=_pairs(record, HOW),
        stake=stake,
        episode=episode if gaps and all(episode) else None,
        least=least if least is not None and least.certainty in KNOWN else None,
    )


def notes_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the record asks the reader to know."""
    return tuple(as_text(each) for each in as_list(record.get("notes")))


def _object(record: Mapping[str, Any] | Record) -> Mapping[str, Any]:
    """Return a record as JSON; parts that are not typed yet have it already."""
    if isinstance(record, Mapping):
        return record
    found = plain(record)
    assert isinstance(found, dict)
    return found


def _pairs(source: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(
        (key.replace("_", " "), as_text(source[key]))
        for key in keys
        if source.get(key) is not None and source[key] != ""
    )
