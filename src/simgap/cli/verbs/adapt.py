"""What real transitions say: posterior, new plan, misfit.

The posterior over models, the hidden parameters before and after, a test whether any
model explains the log at all, and the oracle planned again for the posterior.
"""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.adapted_simulator import (
    Delay,
    Randomize,
    Rate,
    TransferRun,
    print_simulator,
    refuse,
)
from simgap.cli.app.arguments import (
    PART,
    AsJson,
    Horizon,
    Model,
    Seed,
    TimeLimit,
    needed_horizon,
    one_of,
    real,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    telling,
)

REWARDS = ("ignored", "exact")
CHANCE = "it is a chance above 0 and below 1, such as 0.01"


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="CSV: columns state, action, next_state; episode and step, unless "
            "lines are in order; reward, if there is one. - is standard input.",
        ),
    ] = None,
    rewards: Annotated[
        str,
        typer.Option(
            "--rewards",
            metavar="|".join(REWARDS),
            help="exact: a model whose reward is another one is excluded.",
            parser=one_of("value of --rewards", REWARDS),
        ),
    ] = "ignored",
    start_evidence: Annotated[
        bool,
        typer.Option("--start-evidence", help="First states are evidence as well."),
    ] = False,
    false_alarm: Annotated[
        float,
        typer.Option(
            "--false-alarm",
            metavar="P",
            help="Chance, at most, of an alarm if the real model is in the class.",
            parser=real("--false-alarm", below=1.0, hint=CHANCE),
        ),
    ] = 0.01,
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="FILE.simgap",
            help="Keep the new policy there, and the one that tracks the posterior "
            "in FILE.belief.simgap.",
        ),
    ] = None,
    save_model: Annotated[
        str | None,
        typer.Option(
            "--save-model",
            metavar="FILE.simgap",
            help="Keep the class there with the posterior as its prior.",
        ),
    ] = None,
    gap_tolerance: Annotated[
        float | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of a loss is this part of it; default 0.05.",
            parser=real("--gap-tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep the record there, for simgap report; with --randomize a file "
            "POSTERIOR.csv, for --randomize.",
        ),
    ] = None,
    randomize: Randomize = None,
    rate: Rate = None,
    delay: Delay = None,
    transfer: TransferRun = None,
    as_json: AsJson = False,
) -> int:
    """Turn real transitions into a posterior, a test of the class and a new plan.

    Exit status 1 if no model explains the log: randomize other parameters, or wider.
    The test holds however the data were collected and whenever one looks.

    With --randomize 'mass=0.5..2' MODEL is a simulator, such as pendulum: the answer is
    a posterior of its parameters and of the delay of actions, from predictions of one
    step and of five.

    Example: simgap adapt 'riverswim?success=0.2:0.8:4' -H 50 --log real.csv
    """
    import sys

    from simgap.answers.adapt.adapt import adapt
    from simgap.answers.adapt.evidence import RewardEvidence
    from simgap.answers.adapt.simulator import adapt_simulator
    from simgap.cli.app.models import read_model
    from simgap.errors import InvalidArgument
    from simgap.interop import HEADER

    if randomize is not None:
        refuse(
            {
                "-H": horizon,
                "--rewards exact": rewards != "ignored",
                "--start-evidence": start_evidence,
                "--save": save,
                "--save-model": save_model,
                "--gap-tolerance": gap_tolerance,
            },
            "leave it out: with --randomize nothing is planned",
        )
        if not log:
            raise InvalidArgument(
                "no log is given",
                hint="name a file with columns episode, obs_0, ..., act_0, ...: "
                "--log real.csv",
            )
        with telling("comparing predictions with the log"):
            learnt = adapt_simulator(
                model,
                randomize,
                log,
                rate=rate,
                delay=delay,
                false_alarm=false_alarm,
                transfer=transfer,
                out=out,
                seed=seed,
            )
        finish(learnt, context, None, print_simulator, as_json=as_json)
        return 1 if learnt.outside_class else 0
    refuse(
        {"--rate": rate, "--delay": delay is not None, "--transfer": transfer},
        "it needs a simulator: --randomize 'mass=0.5..2'",
    )
    steps = needed_horizon(horizon)
    if not log:
        raise InvalidArgument(
            "no log is given",
            hint=f"name a CSV file with the header {HEADER}: --log real.csv",
        )
    folder = folder_of(out)
    given = read_model(model)
    with telling("planning") as tell:
        answer = adapt(
            given,
            steps,
            sys.stdin.buffer if log == "-" else log,
            rewards=RewardEvidence[rewards.upper()],
            start_evidence=start_evidence,
            false_alarm=false_alarm,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            save=save,
            save_model=save_model,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json)
    return 1 if answer.outside_class else 0
