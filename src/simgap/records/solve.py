"""What is best in a model that is known? `simgap solve` and `simgap diameter`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.intervals import Certified
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class Gain:
    """Reward per step: certified ends, or none where there is no single gain."""

    lower: float | None
    upper: float | None


@final
@dataclass(frozen=True, slots=True)
class ModelSolution:
    """The optimal behaviour of one model, known to the agent."""

    name: str
    gain: Annotated[Gain, means("rho*")]
    bias_span: Annotated[float | None, means("of the bias, in units of reward")]
    residual: Annotated[float | None, means("of the optimality equation")]
    value: Annotated[float | None, means("V*_1 at the start")]
    value_bounds: Annotated[Certified | None, means("the same with its rounding error")]
    note: Annotated[str | None, means("what a reader of these numbers should know")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Solve(Record):
    """Gain, bias and optimal value of each model."""

    schema: int = SCHEMA
    kind: str = "solve"
    horizon: int | None
    models: tuple[ModelSolution, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance


@final
@dataclass(frozen=True, slots=True)
class ModelDiameter:
    """The diameter of one model and the pair of states that needs it."""

    name: str
    lower: float
    upper: float
    source: int
    target: int
    source_name: str
    target_name: str


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Diameter(Record):
    """The slowest trip between two states, in each model."""

    schema: int = SCHEMA
    kind: str = "diameter"
    diameter: Annotated[Certified, means("of the class: the largest of its models'")]
    models: tuple[ModelDiameter, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
