"""`simgap demo`: the whole way on one page, on a lake that is slippery to some degree.

Four FrozenLakes that differ in how often a step goes where it should; which one is the
real lake is not known. The demo finds the best policy for all of them, what it loses in
each, and what simpler policies lose; then it solves each lake as if it were known. It
writes the class, the policy, the numbers and a page that can be sent to a colleague.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from simgap.cli.options import AsJson

if TYPE_CHECKING:

    from simgap.cli.baseline_answer import BaselineAnswer
    from simgap.cli.demo_record import DemoModel, DemoRecord, Verdict
    from simgap.cli.oracle_answer import PairPrices, TracePoint
    from simgap.records import Certified, Provenance
    from simgap.statistics import Estimate

LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
HORIZON = 200
GAP_TOLERANCE = 0.1
TIME_LIMIT = 60.0
EPISODES = 2_000
SEED = 0


@final
@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """What `simgap demo --json` prints: as `oracle`, and where things were put."""

    schema: int
    horizon: int
    verdict: Verdict
    lower: float
    upper: float
    informed: float
    average_gap: Certified
    estimated_gap: Estimate
    worst_gap: float
    least_worst_gap: float | None
    outcome: str
    solver: str
    baselines: dict[str, BaselineAnswer]
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    pair_prices: PairPrices
    rounding: float
    models: tuple[DemoModel, ...]
    certainty: dict[str, str]
    provenance: Provenance
    seconds: float  # of planning
    compile_seconds: float
    total_seconds: float
    trace: tuple[TracePoint, ...]
    report: str
    record: str
    timings: str
    model_file: str
    policy_file: str
    belief_policy_file: str


def run(
    context: typer.Context,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where to put the files.")
    ] = "simgap-demo",
    as_json: AsJson = False,
) -> None:
    """Plan for four frozen lakes at once and write a page about it."""
    from simgap.cli.demo_record import demo_record, demo_timings
    from simgap.cli.models import read_model
    from simgap.cli.oracle import belief_path, plan
    from simgap.cli.output import made_folder, print_json
    from simgap.interop import save_model
    from simgap.interop.policy_file import save_policy
    from simgap.oracle.settings import AutoOracle
    from simgap.records import write_record
    from simgap.report import write_page

    begin, folder = perf_counter(), made_folder(out)
    latent = read_model(LAKES)
    solver = AutoOracle(
        gap_tolerance=GAP_TOLERANCE, time_limit=TIME_LIMIT, episodes=EPISODES, seed=SEED
    )
    result = plan(latent, HORIZON, None, solver)
    record = demo_record(
        latent, result, command=str(context.obj), model=LAKES, seed=SEED
    )
    measured = demo_timings(latent, result)
    model_file, policy_file = folder / "lakes.simgap", folder / "policy.simgap"
    record_file, timings_file = folder / "record.json", folder / "timings.json"
    page = folder / "report.html"
    save_model(latent, model_file)
    save_policy(result.policy, policy_file)
    save_policy(result.belief_policy, belief_path(policy_file))
    write_record(record, record_file)
    write_record(measured, timings_file)
    write_page(record_file, page, timings_file)
    answer = DemoAnswer(
        **_told(record),
        seconds=measured.seconds,
        compile_seconds=measured.compile_seconds,
        total_seconds=perf_counter() - begin,
        trace=measured.trace,
        report=str(page),
        record=str(record_file),
        timings=str(timings_file),
        model_file=str(model_file),
        policy_file=str(policy_file),
        belief_policy_file=str(belief_path(policy_file)),
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _told(record: DemoRecord) -> dict[str, Any]:
    """Return the fields of the record that the answer has as well."""
    wanted = {each.name for each in fields(DemoAnswer)}
    return {
        each.name: getattr(record, each.name)
        for each in fields(record)
        if each.name in wanted
    }


def _print(answer: DemoAnswer) -> None:
    from simgap.cli.baseline_answer import middle
    from simgap.cli.demo_record import DEFAULT
    from simgap.cli.output import print_line, print_table
    from simgap.report.words import gap_number, number, shown

    print_line(answer.verdict.headline)
    for point in answer.verdict.points:
        print_line(f"  {point}")
    alone, noise = answer.baselines[DEFAULT].models, 10.0 * answer.rounding
    print_table(
        f"what is lost in {answer.horizon} steps, if this is the real lake",
        ("real lake", "V*", "gap", "of V*", "gap, default lake alone"),
        [
            (
                shown(each.name),
                number(each.optimal, 5),
                gap_number(each.gap, noise, 4),
                "-"
                if each.relative_gap is None or each.gap <= noise
                else f"{100 * each.relative_gap:.2g} %",
                gap_number(middle(other.gap), noise, 4),
            )
            for each, other in zip(answer.models, alone, strict=True)
        ],
        f"certified; {answer.outcome} after {answer.seconds:.1f} s of planning",
    )
    print_line(f"page    {answer.report}")
    print_line(f"record  {answer.record}")
    print_line(f"model   {answer.model_file}")
    print_line(f"policy  {answer.policy_file}, {answer.belief_policy_file}")
    print_line(f"next    simgap info {answer.model_file}")
