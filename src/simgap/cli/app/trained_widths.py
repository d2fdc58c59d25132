"""`simgap width SIMULATOR --randomize SPEC`: options, and the answer for people."""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.arguments import real, whole

OF_A_SIMULATOR = "it is for a simulator: --randomize 'mass=0.5..2'"
NOT_OF_A_SIMULATOR = "leave it out: with --randomize policies are trained"

TrainMemory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="KIND",
        help="Of a simulator: policies with gru, lstm, none, or window:K; gru.",
    ),
]
TrainSeeds = Annotated[
    int | None,
    typer.Option(
        "--seeds",
        metavar="K",
        help="Of a simulator: trainings of each width; 3, 5 for a claim.",
        parser=whole("--seeds", 1, 1000, "a number"),
    ),
]
TrainSteps = Annotated[
    int | None,
    typer.Option(
        "--steps",
        metavar="N",
        help="Of a simulator: behind each policy; 2e6.",
        parser=whole("--steps", 1, 10**12, "a number of steps"),
    ),
]
WidthDesign = Annotated[
    str | None,
    typer.Option(
        "--design",
        metavar="D",
        help="Of a simulator: sobol:128, random:200, grid:5x5.",
    ),
]
WidthEpisodes = Annotated[
    int | None,
    typer.Option(
        "--episodes",
        metavar="K",
        help="Of a simulator: of each policy at each point; 8.",
        parser=whole("--episodes", 2, 10**6, "a number"),
    ),
]
WidthBeyond = Annotated[
    float | None,
    typer.Option(
        "--beyond",
        metavar="F",
        help="Of a simulator: also at points of F times the ranges; 1.5.",
        parser=real("--beyond", above=0.999999, below=100.0, hint="it is 1 to 100"),
    ),
]
