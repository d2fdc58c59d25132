"""How fast models are told apart, and what an agent finds out.

Pairs belong to the best experiment, the timeline to the oracle, which wants reward and
learns on the way. Without -H there is no oracle, and the timeline is null. Of a folder
of trainings: when a policy with memory stops losing, and what its memory holds.
"""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.adapted_simulator import refuse
from simgap.cli.app.arguments import (
    AsJson,
    GapTolerance,
    Horizon,
    Out,
    Seed,
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
from simgap.cli.app.trained_runs import (
    NOT_OF_A_RUN,
    OF_A_RUN,
    ModelOrRun,
    ReferenceName,
    RunWorlds,
    TrainingName,
)

ERROR, EPISODES = 0.05, 5_000
WORLDS = 512
GUESS = "it is the chance of a wrong guess: above 0 and below 0.5, such as 0.05"


def run(
    context: typer.Context,
    model: ModelOrRun,
    horizon: Horizon = None,
    error: Annotated[
        float,
        typer.Option(
            "--error",
            metavar="E",
            help="Chance of a wrong guess that is allowed.",
            parser=real("--error", below=0.5, hint=GUESS),
        ),
    ] = ERROR,
    episodes: Annotated[
        int,
        typer.Option(
            "--episodes",
            metavar="K",
            help="At most, in each model of the timeline.",
            parser=whole("--episodes", 2, 10**6, "a number"),
        ),
    ] = EPISODES,
    gap_tolerance: GapTolerance = 0.2,
    time_limit: TimeLimit = 60.0,
    policy: TrainingName = None,
    reference: ReferenceName = None,
    worlds: RunWorlds = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Say how fast models are told apart, and with -H what the oracle finds out.

    For each pair: the steps that the best experiment needs, between two whole numbers,
    and the state and action to look at. With -H: the probability that the oracle's
    posterior gives to the real model, over time.

    If MODEL is a folder of simgap train: what a policy with memory loses at each step
    against one that is told the parameters, and how well they can be read from its
    memory.

    Example: simgap identify 'riverswim?states=6&success=0.2:0.5:4' -H 100
    """
    from pathlib import Path

    from simgap.answers.identify.identify import identify
    from simgap.answers.identify.identify_run import identify_run
    from simgap.answers.transfer.trained_run import is_run
    from simgap.cli.app.models import read_model

    folder = folder_of(out)
    if is_run(model):
        planned = {"-H": horizon, "--error": error != ERROR}
        planned["--episodes"] = episodes != EPISODES
        refuse(planned, NOT_OF_A_RUN, "identify")
        with telling("following episodes") as tell:
            found = identify_run(
                model,
                policy=policy,
                reference=reference,
                worlds=worlds or WORLDS,
                seed=seed,
                out=folder,
                progress=tell,
            )
        finish(
            found,
            context,
            folder or Path(model),
            as_json=as_json,
            name=found.kind,
        )
        return
    of_a_run = {"--policy": policy, "--reference": reference, "--worlds": worlds}
    refuse(of_a_run, OF_A_RUN, "identify")
    with telling("comparing models") as tell:
        answer = identify(
            read_model(model),
            None if horizon is None else needed_horizon(horizon),
            error=error,
            episodes=episodes,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json)
