"""Which hidden parameter causes the loss.

The loss of the best agent that does not know the real model is shared out over the
parameters that make the models, by Shapley's rule: what not knowing each one adds to
the loss, averaged over all orders in which they could be hidden. Of a folder of
trainings: what knowing each one is worth to a policy that was trained with --masked.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from simgap.cli.app.adapted_simulator import refuse
from simgap.cli.app.arguments import (
    AsJson,
    GapTolerance,
    Horizon,
    Out,
    Seed,
    Threads,
    TimeLimit,
    needed_horizon,
    threads_or_all,
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
    RunDesign,
    RunEpisodes,
    TrainingName,
)
from simgap.errors import InvalidArgument

EXACT = 400  # classes


def names_of(text: str) -> tuple[str, ...]:
    """Return the names in one --group."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InvalidArgument(
            f"--group {text[:80]!r} has an empty name",
            hint="write names with commas between them: --group mass,length",
        )
    return names


def run(
    context: typer.Context,
    model: ModelOrRun,
    horizon: Horizon = None,
    group: Annotated[
        list[Any] | None,
        typer.Option(
            "--group",
            metavar="P,Q",
            help="Parameters that count as one; may be repeated.",
            parser=names_of,
        ),
    ] = None,
    nominal: Annotated[
        str | None,
        typer.Option(
            "--nominal",
            metavar="NAME",
            help="The model a team would plan for, or its number; default: the middle.",
        ),
    ] = None,
    exact_up_to: Annotated[
        int,
        typer.Option(
            "--exact-up-to",
            metavar="N",
            help="Classes to plan; if there are more, orders are sampled.",
            parser=whole("--exact-up-to", 0, 10**6, "a number"),
        ),
    ] = EXACT,
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations",
            metavar="K",
            help="Orders of the parameters to sample, every second one a reverse; 100, "
            "of a folder of trainings 24.",
            parser=whole("--permutations", 4, 10**6, "a number"),
        ),
    ] = None,
    gap_tolerance: GapTolerance = 0.05,
    time_limit: TimeLimit = 120.0,
    policy: TrainingName = None,
    design: RunDesign = None,
    episodes: RunEpisodes = None,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Share out the loss over the hidden parameters: which one to measure first.

    Shares sum to the loss of the best agent that does not know the real model. A
    parameter without any effect has a share of exactly 0. Beside each share: the loss
    if only this parameter is hidden, what knowing it is worth, and its share of what a
    plan for the nominal model alone loses.

    If MODEL is a folder of simgap train: shares of what it is worth to be told all
    parameters, measured by telling them to a policy that was trained with --masked.

    Example: simgap blame 'windy_grid?size=5&strength=0.2,0.8' -H 40
    """
    from pathlib import Path

    from simgap.answers.blame.blame import blame
    from simgap.answers.blame.blame_run import blame_run
    from simgap.answers.transfer.trained_run import is_run
    from simgap.cli.app.models import read_model

    folder = folder_of(out)
    if is_run(model):
        planned = {"-H": horizon, "--group": group, "--nominal": nominal}
        planned["--exact-up-to"] = exact_up_to != EXACT
        refuse(planned, NOT_OF_A_RUN, "blame")
        with telling("measuring") as tell:
            found = blame_run(
                model,
                policy=policy,
                design=design or "sobol:64",
                episodes=episodes or 16,
                orders=permutations or 24,
                seed=seed,
                workers=threads_or_all(threads),
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
    measured = {"--policy": policy, "--design": design, "--episodes": episodes}
    refuse({**measured, "--threads": threads}, OF_A_RUN, "blame")
    steps = needed_horizon(horizon)
    with telling("planning") as tell:
        answer = blame(
            read_model(model),
            steps,
            groups=tuple(group or ()),
            nominal=nominal,
            exact_up_to=exact_up_to,
            permutations=permutations or 100,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json)
