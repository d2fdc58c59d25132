"""What would make a measurement wrong, before hours are spent on it.

Does every parameter change a step, do seeds repeat, do returns keep their bounds, is
the memory used, are actions clipped? Exit status 1 if a check fails.
"""

from __future__ import annotations

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    Noise,
    Out,
    Policies,
    Randomize,
    Seed,
    Simulator,
)
from simgap.cli.app.output import finish, folder_of, telling
from simgap.errors import InvalidArgument


def run(
    context: typer.Context,
    simulator: Simulator = None,
    policy: Policies = None,
    randomize: Randomize = None,
    horizon: Horizon = None,
    noise: Noise = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Look for what would make the grading of a policy in a simulator wrong.

    Example: simgap check gym:CartPole-v1 --randomize length=0.3..1.0 -H 50
    """
    from simgap.answers.transfer.check import check

    if simulator is None:
        raise InvalidArgument("SIMULATOR is not given", hint="for instance cartpole")
    folder = folder_of(out)
    with telling("checking") as tell:
        answer = check(
            simulator,
            policy or ["random"],
            randomize=randomize or "nominal",
            horizon=horizon,
            noise=noise or "",
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json)
    if not answer.passed:
        raise typer.Exit(1)
