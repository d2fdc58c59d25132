"""`simgap diameter`: how long the slowest trip takes, in each model (Definition 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import typer

from simgap.cli.app.options import AsJson, MaxBytes, Model

if TYPE_CHECKING:
    from simgap.intervals import Certified
    from simgap.mdp import SimulatorClass
    from simgap.records import Provenance


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
@dataclass(frozen=True, slots=True)
class DiameterAnswer:
    """The record of `simgap diameter`."""

    schema: int
    diameter: Certified  # of the class: the largest of its models'
    models: tuple[ModelDiameter, ...]
    certainty: dict[str, str]
    provenance: Provenance


def run(
    context: typer.Context,
    model: Model,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Bound the diameter of every model; infinite if some state cannot be reached.

    Example: simgap diameter 'riverswim?states=6&success=0.2:0.5:4'
    """
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of
    from simgap.cli.app.output import print_json, working
    from simgap.records import SCHEMA, provenance

    latent = read_model(model, max_bytes_of(max_bytes)).latent
    with working("computing travel times"):
        largest, models = diameters(latent.simulators)
    answer = DiameterAnswer(
        schema=SCHEMA,
        diameter=largest,
        models=models,
        certainty={"diameter": "certified"},
        provenance=provenance(command=str(context.obj), model=model, latent=latent),
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def diameters(
    simulators: SimulatorClass,
) -> tuple[Certified, tuple[ModelDiameter, ...]]:
    """Return certified bounds for the class and for each of its models."""
    from simgap.intervals import Certified
    from simgap.planning import diameter

    found, labels = diameter(simulators), simulators.labels
    models = tuple(
        ModelDiameter(
            name=name,
            lower=float(found.model_lower[at]),
            upper=float(found.model_upper[at]),
            source=int(found.source[at]),
            target=int(found.target[at]),
            source_name=labels.state(int(found.source[at])),
            target_name=labels.state(int(found.target[at])),
        )
        for at, name in enumerate(simulators.model_names)
    )
    return Certified(float(found.lower), float(found.upper)), models


def _print(answer: DiameterAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.intervals import Certified
    from simgap.text import bracket, shown

    rows = [
        (
            shown(each.name),
            bracket(Certified(each.lower, each.upper)),
            shown(each.source_name, 30),
            shown(each.target_name, 30),
        )
        for each in answer.models
    ]
    print_table(
        f"diameter of {shown(answer.provenance.model)}",
        ("model", "diameter", "from state", "to state"),
        rows,
        "expected steps of the slowest pair of states; certified bounds",
    )
    print_line(f"class: {bracket(answer.diameter)} steps (certified)")
