"""Train policies for a simulator with hidden parameters: with memory, or informed.

SIMULATOR is a built-in name, gym:ID, mujoco:FILE.xml or file.py:make. Each seed has a
process of its own; a training that was stopped goes on from its last checkpoint, to the
same weights. The policies are ONNX files: `simgap transfer RUN` grades them.
"""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    Noise,
    Randomize,
    Seed,
    Simulator,
    Threads,
    threads_or_all,
    whole,
)
from simgap.cli.app.output import finish, telling
from simgap.errors import InvalidArgument


def run(
    context: typer.Context,
    simulator: Simulator = None,
    randomize: Randomize = None,
    memory: Annotated[
        str,
        typer.Option(
            "--memory", metavar="KIND", help="gru, lstm, none, or window:K frames."
        ),
    ] = "gru",
    informed: Annotated[
        bool, typer.Option("--informed", help="The policy is told the parameters.")
    ] = False,
    masked: Annotated[
        bool,
        typer.Option(
            "--masked", help="It is told some of them, others in every episode."
        ),
    ] = False,
    nominal: Annotated[
        bool, typer.Option("--nominal", help="Nothing is randomized.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="THETA",
            help='A specialist for one value: "mass=1.2 length=0.8".',
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            metavar="K",
            help="How many trainings; 5 for a claim.",
            parser=whole("--seeds", 1, 1000, "a number"),
        ),
    ] = 1,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            metavar="N",
            help="Of the simulator, for each seed; 2e6.",
            parser=whole("--steps", 1, 10**12, "a number of steps"),
        ),
    ] = None,
    horizon: Horizon = None,
    noise: Noise = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="What tables call the training."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Refuse a parameter that changes nothing."
        ),
    ] = True,
    allow_different_machine: Annotated[
        bool,
        typer.Option(
            "--allow-different-machine",
            help="Resume with other versions or threads: other last digits.",
        ),
    ] = False,
    seed: Seed = 0,
    threads: Threads = None,
    out: Annotated[
        str,
        typer.Option("--out", metavar="RUN", help="Where policies and checkpoints go."),
    ] = "simgap-run",
    as_json: AsJson = False,
) -> None:
    """Train policies over the parameters of a simulator, a process for each seed.

    What it writes to RUN can be graded together: simgap transfer RUN.

    Example: simgap train heading --randomize mounting_angle=-3.14..3.14 --steps 2e4
    """
    from simgap.answers.train.train import train

    if simulator is None:
        raise InvalidArgument("SIMULATOR is not given", hint="for instance heading")
    if randomize is None and not nominal:
        raise InvalidArgument(
            "--randomize is not given", hint='for instance "mass=0.5..2.0"'
        )
    with telling("training") as tell:
        answer = train(
            simulator,
            randomize=randomize or "nominal",
            memory=memory,
            informed=informed,
            masked=masked,
            nominal=nominal,
            at=at,
            seeds=seeds,
            steps=steps,
            horizon=horizon,
            noise=noise or "",
            name=name,
            checked=check,
            allow_different_machine=allow_different_machine,
            seed=seed,
            workers=threads_or_all(threads),
            out=out,
            progress=tell,
        )
    finish(answer, context, None, as_json=as_json)
