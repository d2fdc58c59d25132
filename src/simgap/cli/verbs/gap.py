"""What each policy loses in each model that may be real.

Rows are policies, columns real models. Policies without memory and policy graphs have
certified gaps; agents whose histories are few enough to follow have them too; all
others are run with common random numbers and have intervals. Then what memory and
randomization are worth, and with --horizons how all of it grows with H.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from simgap.cli.app.arguments import (
    AsJson,
    GapTolerance,
    Horizon,
    Model,
    Out,
    Seed,
    Threads,
    TimeLimit,
    needed_horizon,
    real,
    whole,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    telling,
)
from simgap.errors import InvalidArgument, InvalidInstance


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="P",
            help="One of them, or [NAME=]file.py:function, file.onnx, file.simgap; may "
            "be repeated.",
        ),
    ] = None,
    horizons: Annotated[
        str | None,
        typer.Option(
            "--horizons",
            metavar="LIST",
            help="Also at these horizons: 10,50,200 or 10:200:5, or all for the "
            "usual ones.",
        ),
    ] = None,
    agents: Annotated[
        bool,
        typer.Option(help="Run agents that find out while they act, too."),
    ] = True,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            metavar="K",
            help="Runs where sampling is needed.",
            parser=whole("--seeds", 2, 10**7, "a number"),
        ),
    ] = 400,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width",
            metavar="X",
            help="Run until intervals are ±X.",
            parser=real("--half-width", hint="it is a loss above 0"),
        ),
    ] = None,
    gap_tolerance: GapTolerance = 0.1,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare policies: what each loses in each model that may be the real one.

    --policy is one of the agents of simgap run, or one planned for the class: oracle,
    oracle-belief, memoryless, mean-model, single-simulator, minimax, window-1,
    window-2. Or it is one of yours: a policy file of simgap (certified, if it is a
    table or a graph), zero, file.onnx, or file.py:function, which is called
    f(state, memory) and returns (action, memory); the file is run as it is. By default
    all that simgap knows are compared, with what memory and randomization are worth.

    Example: simgap gap 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 100
    """
    from simgap.answers.compare import compare
    from simgap.cli.app.models import read_model

    lengths, folder = _horizons(horizons), folder_of(out)
    with telling("planning") as tell:
        answer = compare(
            read_model(model),
            needed_horizon(horizon),
            policies=policy or (),
            horizons=lengths,
            agents=agents,
            seeds=seeds,
            half_width=half_width,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            threads=threads,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json)


def _horizons(text: str | None) -> tuple[int, ...] | Literal["all"]:
    """Return the horizons that a text names."""
    if text is None:
        return ()
    if text.strip().lower() == "all":
        return "all"
    from simgap.instances import Kind, read_value

    try:
        points = read_value("horizons", text, Kind.POINTS)
    except InvalidInstance as error:
        raise InvalidArgument(
            f"--horizons is {text[:60]!r}: {error.problem}",
            hint="write for instance 10,50,200 or 10:200:5, or all",
        ) from error
    return tuple(round(float(point)) for point in points)
