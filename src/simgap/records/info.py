"""What is in a model, which models are there? `simgap info`, `list` and `export`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.records.note import Note
from simgap.records.provenance import Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True)
class StartLaw:
    """Where episodes begin; states of probability 0 are left out."""

    model: str | None  # null: the law of every model
    states: tuple[int, ...]  # their numbers
    probabilities: tuple[float, ...]  # in the same order


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Info(Record):
    """Everything here is a count or a copy, so it is exact."""

    schema: int = SCHEMA
    kind: str = "info"
    models: int
    states: int
    actions: int
    nonzeros: int  # (s, a, s') that some model gives a probability
    bytes: int
    hash: str  # of the numbers, the names and the prior
    class_hash: str  # without the prior
    names: tuple[str, ...]  # of the models
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]
    prior: tuple[float, ...]
    start: tuple[StartLaw, ...]  # one law for all models, or one per model
    parameters: dict[str, tuple[float, ...]]  # name -> one value per model
    rewards: dict[str, float | bool]
    notes: tuple[Note, ...]
    provenance: Provenance


@final
@dataclass(frozen=True, slots=True)
class Listed:
    """One instance of the catalogue, or one simulator."""

    name: str
    description: str
    parameters: dict[str, str]  # name -> what it is, with its default


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class List(Record):
    """What MODEL may name (instances and endings of files), and SIMULATOR."""

    schema: int = SCHEMA
    kind: str = "list"
    instances: tuple[Listed, ...]
    readable: tuple[str, ...]  # endings of model files
    writable: tuple[str, ...]
    simulators: tuple[Listed, ...]  # built in, for transfer and check; or the one named


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Export(Record):
    """The file that a model or a table was written to."""

    schema: int = SCHEMA
    kind: str = "export"
    path: str
    hash: str  # of the model, whatever its file; of a table: SHA-256 of the file
    bytes: int
    provenance: Provenance
