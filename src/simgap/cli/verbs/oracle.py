"""The best average over all models, and what it must lose.

The oracle is the best policy for the average over all models that does not know which
one is real. The answer is a bracket of what it loses, certified, a policy that loses no
more than the upper end, and what simpler policies lose.
"""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.arguments import (
    GIGABYTES,
    PART,
    SECONDS,
    AsJson,
    Discount,
    Horizon,
    Model,
    Out,
    Seed,
    one_of,
    real,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    telling,
)

SOLVERS = ("auto", "exact", "bounded", "grid")


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    discount: Discount = None,
    gap_tolerance: Annotated[
        float | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Stop when the bracket of the loss is this part of it; default 0.05.",
            parser=real("--gap-tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="R",
            help="The same as a part of the value.",
            parser=real("--tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning; default 60. All ends within half as long again.",
            parser=real("--time-limit", hint=SECONDS),
        ),
    ] = None,
    max_memory: Annotated[
        float | None,
        typer.Option(
            "--max-memory",
            metavar="GB",
            help="What the process may hold; before planning about 0.2 are in use. "
            "The first run compiles, which takes more.",
            parser=real("--max-memory", hint=GIGABYTES),
        ),
    ] = None,
    solver: Annotated[
        str,
        typer.Option(
            "--solver",
            metavar="|".join(SOLVERS),
            help="How to plan.",
            parser=one_of("solver", SOLVERS),
        ),
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
    seed: Seed = 0,
    baselines: Annotated[
        bool, typer.Option(help="Compare with simpler policies.")
    ] = True,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Bracket what the best agent loses that does not know which model is real.

    Give a horizon -H or a --discount, one of the two. Every answer is a bracket that
    is valid even if a limit or Ctrl-C stops planning early.

    Example: simgap oracle 'riverswim?success=0.1:0.6:5&left_reward=0.4' -H 100
    """
    from simgap.answers.oracle import oracle
    from simgap.cli.app.models import read_model

    folder = folder_of(out)
    with telling("planning") as tell:
        answer = oracle(
            read_model(model),
            horizon,
            discount=discount,
            gap_tolerance=gap_tolerance,
            tolerance=tolerance,
            time_limit=time_limit,
            max_memory=max_memory,
            solver=solver,  # type: ignore[arg-type]  # one of SOLVERS
            save=save,
            baselines=baselines,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json)
