"""`simgap oracle`: will a policy trained under domain randomization transfer?

The oracle is the best policy for the average over all models that does not know which
one is real. The answer is a bracket of what it loses, certified, a policy that loses no
more than the upper end, and what simpler policies lose.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, final

import typer

from simgap.cli.app.options import AsJson, Discount, Horizon, MaxBytes, Model, Out

if TYPE_CHECKING:
    from simgap.cli.verbs.baseline_answer import BaselineAnswer, Comparison
    from simgap.cli.verbs.oracle_answer import (
        OracleModel,
        OracleNumbers,
        TracePoint,
    )
    from simgap.intervals import Certified, Estimate
    from simgap.mdp import LatentMDP
    from simgap.oracle import OracleResult, Solver
    from simgap.records import Memory, PairPrices, Provenance

SOLVERS = ("auto", "exact", "bounded", "grid")
PART = "it is above 0 and below 1, such as 0.05"
GIGABYTES = "it is a number of gigabytes above 0"


@final
@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """The record of `simgap oracle`."""

    schema: int
    horizon: int | None
    discount: float | None
    lower: float  # of W*
    upper: float
    informed: float
    average_gap: Certified
    estimated_gap: Estimate
    worst_gap: float
    least_worst_gap: float | None
    outcome: str
    solver: str
    models: tuple[OracleModel, ...]
    pair_prices: PairPrices
    nodes: int
    rounding: float
    baselines: dict[str, BaselineAnswer]
    memory: Memory | None
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    trace: tuple[TracePoint, ...]
    seconds: float
    compile_seconds: float
    baseline_seconds: float
    largest_bytes: int
    policy_file: str | None
    belief_policy_file: str | None
    certainty: dict[str, str]
    provenance: Provenance


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    discount: Discount = None,
    gap_tolerance: Annotated[
        str | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Stop when the bracket of the loss is this part of it; default 0.05.",
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance", metavar="R", help="The same as a part of the value."
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit", metavar="S", help="Seconds of planning; default 60."
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option("--max-memory", metavar="GB", help="What planning may take."),
    ] = None,
    solver: Annotated[
        str, typer.Option("--solver", metavar="|".join(SOLVERS), help="How to plan.")
    ] = "auto",
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="FILE.simgap",
            help="Keep the certified policy there, and the one that tracks the "
            "posterior in FILE.belief.simgap.",
        ),
    ] = None,
    seed: Annotated[
        str, typer.Option("--seed", metavar="N", help="Of everything sampled.")
    ] = "0",
    baselines: Annotated[
        bool, typer.Option(help="Compare with simpler policies.")
    ] = True,
    max_bytes: MaxBytes = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Bracket what the best agent loses that does not know which model is real.

    Give a horizon -H or a --discount, one of the two. Every answer is a bracket that
    is valid even if a limit or Ctrl-C stops planning early.

    Example: simgap oracle 'riverswim?success=0.1:0.6:5&left_reward=0.4' -H 100
    """
    from simgap.answers import saved_policies, writable_file
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import discount_of, horizon_of, max_bytes_of, seed_of
    from simgap.cli.app.output import made_folder, print_json
    from simgap.cli.verbs.oracle_words import print_oracle
    from simgap.errors import InvalidArgument
    from simgap.records import write_record

    steps, factor, start = horizon_of(horizon), discount_of(discount), seed_of(seed)
    if (steps is None) == (factor is None):
        both = "both -H and --discount are" if steps is not None else "no horizon is"
        raise InvalidArgument(f"{both} given", hint="give -H 200 or --discount 0.99")
    if steps == 0:
        raise InvalidArgument("the horizon -H is 0", hint="it is 1 or more")
    settings = solver_of(
        solver,
        gap_tolerance=gap_tolerance,
        tolerance=tolerance,
        time_limit=time_limit,
        max_memory=max_memory,
        seed=start,
    )
    target = None if save is None else writable_file(save)
    folder = None if out is None else made_folder(out)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    result = plan(latent, steps, factor, settings)
    answer = answered(
        latent,
        result,
        compare=baselines,
        files=saved_policies(result, target),
        command=str(context.obj),
        model=model,
        seed=start,
    )
    if folder is not None:
        write_record(answer, folder / "oracle.json")
    if as_json:
        print_json(answer)
    else:
        print_oracle(answer)


def solver_of(
    name: str,
    *,
    gap_tolerance: str | None = None,
    tolerance: str | None = None,
    time_limit: str | None = None,
    max_memory: str | None = None,
    seed: int = 0,
) -> Solver:
    """Return the settings of a solver from the words of the command line."""
    from difflib import get_close_matches

    from simgap.cli.app.options import part_of, positive_of, seconds_of
    from simgap.errors import InvalidArgument
    from simgap.oracle import settings

    of_gap = part_of(gap_tolerance, "--gap-tolerance", hint=PART)
    of_value = part_of(tolerance, "--tolerance", hint=PART)
    seconds = seconds_of(time_limit)
    memory = positive_of(max_memory, "--max-memory", hint=GIGABYTES)
    kinds = {
        "auto": settings.AutoOracle,
        "bounded": settings.BoundedOracle,
        "grid": settings.GridOracle,
        "exact": settings.ExactOracle,
    }
    if name not in kinds:
        near = get_close_matches(name.lower(), SOLVERS, n=1)
        hint = (
            f"did you mean {near[0]}?" if near else f"it is one of {', '.join(SOLVERS)}"
        )
        raise InvalidArgument(f"there is no solver {name[:40]!r}", hint=hint)
    kind = kinds[name]
    chosen: dict[str, float | int | None] = {"seed": seed}
    if seconds is not None:
        chosen["time_limit"] = seconds
    if memory is not None:
        chosen["max_memory"] = memory * 1e9
    given = of_gap is not None or of_value is not None
    if given and kind is not settings.ExactOracle:  # exact is within any tolerance
        chosen |= {"gap_tolerance": of_gap, "tolerance": of_value, "negligible": 0.0}
    return kind(**chosen)  # type: ignore[no-any-return]


def plan(
    latent: LatentMDP, horizon: int | None, discount: float | None, solver: Solver
) -> OracleResult:
    """Return the oracle; standard error tells how the bracket closes."""
    from simgap.cli.app.output import telling
    from simgap.oracle import Progress, domain_randomization_oracle
    from simgap.text import number

    with telling("planning") as tell:

        def follow(now: Progress) -> None:
            low, high = (number(end, 4) for end in (now.lower, now.upper))
            tell(f"{now.seconds:.0f} s: loss in [{low}, {high}], {now.doing}")

        return domain_randomization_oracle(
            latent, horizon=horizon, discount=discount, solver=solver, progress=follow
        )


def answered(
    latent: LatentMDP,
    result: OracleResult,
    *,
    compare: bool = True,
    comparison: Comparison | None = None,
    files: tuple[str | None, str | None] = (None, None),
    command: str,
    model: str,
    seed: int,
) -> OracleAnswer:
    """Return the record of a result; simpler policies are planned unless given."""
    from simgap.cli.verbs.baseline_answer import NOTHING, compared
    from simgap.cli.verbs.oracle_answer import CERTAINTY, oracle_numbers, trace_points
    from simgap.oracle import Outcome
    from simgap.records import SCHEMA, provenance

    numbers, begin = oracle_numbers(latent, result), perf_counter()
    others = NOTHING if comparison is None else comparison
    if compare and comparison is None and result.outcome is not Outcome.INTERRUPTED:
        try:
            others = compared(latent, result, seed)
        except KeyboardInterrupt:  # the bracket is there: better without than nothing
            others = NOTHING
    statistics = result.statistics
    return OracleAnswer(
        schema=SCHEMA,
        **_fields(numbers),  # type: ignore[arg-type]
        baselines=others.baselines,
        memory=others.memory,
        value_of_memory=others.value_of_memory,
        value_of_randomization=others.value_of_randomization,
        trace=trace_points(result),
        seconds=statistics.seconds,
        compile_seconds=statistics.compile_seconds,
        baseline_seconds=perf_counter() - begin,
        largest_bytes=statistics.largest_bytes,
        policy_file=files[0],
        belief_policy_file=files[1],
        certainty=dict(CERTAINTY),
        provenance=provenance(command=command, model=model, latent=latent, seed=seed),
    )


def _fields(numbers: OracleNumbers) -> dict[str, object]:
    return {each.name: getattr(numbers, each.name) for each in fields(numbers)}
