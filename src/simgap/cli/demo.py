"""`simgap demo`: the whole way on one page, on a lake that is slippery to some degree.

Four FrozenLakes that differ in how often a step goes where it should; which one is the
real lake is not known. The demo solves each of them as if it were known, writes the
class, the numbers and a page that can be sent to a colleague.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, final

import typer

from simgap.cli.options import AsJson

if TYPE_CHECKING:
    from pathlib import Path

    from simgap.cli.diameter import ModelDiameter
    from simgap.cli.solve import ModelSolution
    from simgap.mdp import LatentMDP
    from simgap.records import Certified, Provenance

LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
HORIZON = 200
TITLE = "How different are four frozen lakes?"
SUMMARY = (
    "A robot crosses a frozen lake; a step goes where it should with probability "
    "success_rate, and the real lake is one of these, nobody says which. Here each "
    "lake is solved as if it were known: how much it can pay, and how long the slowest "
    "trip between two squares takes. Falling into a hole or reaching the goal leads "
    "back to the start."
)


@final
@dataclass(frozen=True, slots=True)
class DemoModel:
    """One lake, solved as if it were known."""

    name: str
    parameters: dict[str, float]
    prior: float
    optimal: float | None  # V*_1 at the start
    optimal_bounds: Certified | None
    gain: Certified
    bias_span: float | None
    residual: float | None
    diameter: Certified
    source: int
    target: int


@final
@dataclass(frozen=True, slots=True)
class DemoRecord:
    """What the demo found: the same bytes on every run of one installation."""

    schema: int
    kind: str
    title: str
    summary: str
    horizon: int
    states: int
    actions: int
    diameter: Certified
    models: tuple[DemoModel, ...]
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


@final
@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """What `simgap demo --json` prints: the record, and where things were put."""

    schema: int
    horizon: int
    diameter: Certified
    models: tuple[DemoModel, ...]
    certainty: dict[str, str]
    provenance: Provenance
    report: str
    record: str
    model_file: str
    seconds: float


def run(
    context: typer.Context,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where to put the files.")
    ] = "simgap-demo",
    as_json: AsJson = False,
) -> None:
    """Solve four frozen lakes and write a page about them."""
    from pathlib import Path

    from simgap.cli.models import read_model
    from simgap.cli.output import print_json, working
    from simgap.interop import save_model
    from simgap.records import write_record
    from simgap.report import write_page

    begin, folder = perf_counter(), Path(out)
    _make(folder)
    latent = read_model(LAKES)
    with working("solving four lakes"):
        record = _solve(latent, str(context.obj))
    model_file = folder / "lakes.simgap"
    record_file, page = folder / "record.json", folder / "report.html"
    save_model(latent, model_file)
    write_record(record, record_file)
    write_page(record_file, page)
    answer = DemoAnswer(
        schema=record.schema,
        horizon=record.horizon,
        diameter=record.diameter,
        models=record.models,
        certainty=record.certainty,
        provenance=record.provenance,
        report=str(page),
        record=str(record_file),
        model_file=str(model_file),
        seconds=perf_counter() - begin,
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _make(folder: Path) -> None:
    from simgap.errors import InvalidFile

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InvalidFile(
            f"cannot make the folder {folder}: {getattr(error, 'strerror', error)}",
            hint="choose another one with --out DIR",
        ) from error


def _solve(latent: LatentMDP, command: str) -> DemoRecord:
    from simgap.cli.diameter import diameters
    from simgap.cli.solve import CERTAINTY, solutions
    from simgap.records import SCHEMA, provenance

    simulators = latent.simulators
    largest, travel = diameters(simulators)
    solved = solutions(simulators, HORIZON)
    return DemoRecord(
        schema=SCHEMA,
        kind="demo",
        title=TITLE,
        summary=SUMMARY,
        horizon=HORIZON,
        states=simulators.n_states,
        actions=simulators.n_actions,
        diameter=largest,
        models=tuple(
            _model(latent, at, each, trip)
            for at, (each, trip) in enumerate(zip(solved, travel, strict=True))
        ),
        certainty={
            "optimal": CERTAINTY["value"],
            "gain": CERTAINTY["gain"],
            "bias_span": CERTAINTY["bias_span"],
            "residual": CERTAINTY["residual"],
            "diameter": "certified",
        },
        notes=simulators.notes,
        provenance=provenance(command=command, model=LAKES, model_hash=latent.hash),
    )


def _model(
    latent: LatentMDP, at: int, solved: ModelSolution, trip: ModelDiameter
) -> DemoModel:
    from simgap.records import Certified

    return DemoModel(
        name=solved.name,
        parameters=latent.simulators.theta.of(at),
        prior=float(latent.prior[at]),
        optimal=solved.value,
        optimal_bounds=solved.value_bounds,
        gain=solved.gain,
        bias_span=solved.bias_span,
        residual=solved.residual,
        diameter=Certified(trip.lower, trip.upper),
        source=trip.source,
        target=trip.target,
    )


def _print(answer: DemoAnswer) -> None:
    from simgap.cli.output import print_line, print_table
    from simgap.report.words import bracket, number, shown

    rows = [
        (
            shown(each.name),
            bracket(each.optimal_bounds) if each.optimal_bounds else "-",
            bracket(each.gain),
            number(each.bias_span),
            bracket(each.diameter),
        )
        for each in answer.models
    ]
    steps = answer.horizon
    moved = max((each.residual for each in answer.models if each.residual), default=0.0)
    print_table(
        TITLE,
        ("real lake", f"V* in {steps} steps", "gain per step", "bias span", "diameter"),
        rows,
        f"certified bounds; the bias span is exact for rewards moved by {moved:.1e}",
    )
    print_line(f"page    {answer.report}")
    print_line(f"record  {answer.record}")
    print_line(f"model   {answer.model_file}")
    print_line(f"next    simgap info {answer.model_file}")
