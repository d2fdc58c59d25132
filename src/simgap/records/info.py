"""What is in a model, which models are there? `simgap info`, `list` and `export`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.records.note import Note
from simgap.records.provenance import Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class StartLaw:
    """Where episodes begin; states of probability 0 are left out."""

    model: Annotated[str | None, means("null: the law of every model")]
    states: Annotated[tuple[int, ...], means("their numbers")]
    probabilities: Annotated[tuple[float, ...], means("in the same order")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Info(Record):
    """Everything here is a count or a copy, so it is exact."""

    schema: int = SCHEMA
    kind: str = "info"
    models: int
    states: int
    actions: int
    nonzeros: Annotated[int, means("(s, a, s') that some model gives a probability")]
    bytes: int
    hash: Annotated[str, means("of the numbers, the names and the prior")]
    class_hash: Annotated[str, means("without the prior")]
    names: Annotated[tuple[str, ...], means("of the models")]
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]
    prior: tuple[float, ...]
    start: Annotated[tuple[StartLaw, ...], means("of all models, or one per model")]
    parameters: Annotated[dict[str, tuple[float, ...]], means("one value per model")]
    rewards: Annotated[dict[str, float | bool], means("their range and units")]
    notes: tuple[Note, ...]
    provenance: Provenance


@final
@dataclass(frozen=True, slots=True)
class Listed:
    """One instance of the catalogue, or one simulator."""

    name: str
    description: str
    parameters: Annotated[dict[str, str], means("name -> what it is, with its default")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class List(Record):
    """What MODEL may name (instances and endings of files), and SIMULATOR."""

    schema: int = SCHEMA
    kind: str = "list"
    instances: Annotated[tuple[Listed, ...], means("what MODEL may name")]
    readable: Annotated[tuple[str, ...], means("endings of model files")]
    writable: Annotated[tuple[str, ...], means("endings that simgap export takes")]
    simulators: Annotated[tuple[Listed, ...], means("built in, or the one named")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Export(Record):
    """The file that a model or a table was written to."""

    schema: int = SCHEMA
    kind: str = "export"
    path: str
    hash: Annotated[str, means("of the model; of a table: SHA-256 of the file")]
    bytes: int
    provenance: Provenance
