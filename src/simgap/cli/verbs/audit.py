"""Will it transfer? Assumptions, theorems and a verdict in plain words.

With -H the verdict rests on certified losses: of the best policy with memory, of the
best one found without, and of acting at random, which is what is at stake. Without -H
it says what holds in the long run. Exit status 1 if the verdict is "no" or "not
promised", or if a finding fails.
"""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    Model,
    Out,
    Seed,
    TimeLimit,
    needed_horizon,
    real,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    telling,
)

FAILED = 1
ACCEPTABLE = "it is above 0 and below 1, such as 0.1"


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    acceptable: Annotated[
        float,
        typer.Option(
            "--acceptable",
            metavar="R",
            help="The part of what random actions lose that may be lost.",
            parser=real("--acceptable", below=1.0, hint=ACCEPTABLE),
        ),
    ] = 0.1,
    time_limit: TimeLimit = 20.0,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Measure what takes long in large classes."),
    ] = False,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Say in plain words whether a policy trained on all models will transfer.

    With -H: from certified losses in so many steps, compared with what random actions
    lose. Without: in the long run.

    Example: simgap audit 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 40
    """
    from simgap.cli.app.models import read_model

    steps = None if horizon is None else needed_horizon(horizon)
    folder = folder_of(out)
    from simgap.answers.audit.audit import audit

    with telling("checking assumptions") as tell:
        answer = audit(
            read_model(model),
            steps,
            acceptable=acceptable,
            time_limit=time_limit,
            thorough=thorough,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json)
    if not answer.passed:
        raise typer.Exit(FAILED)
