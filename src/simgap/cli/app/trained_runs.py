"""`simgap blame RUN` and `simgap identify RUN`: options, and answers for people."""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.arguments import whole

OF_A_RUN = "it is for a folder that simgap train wrote"
NOT_OF_A_RUN = "leave it out: nothing is planned for a folder of trainings"

ModelOrRun = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file, an instance string, or a folder of simgap train.",
    ),
]
TrainingName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="Of a folder of trainings: which one; default: the first that fits.",
    ),
]
ReferenceName = Annotated[
    str | None,
    typer.Option(
        "--reference",
        metavar="NAME",
        help="Of a folder of trainings: one that is told the parameters.",
    ),
]
RunDesign = Annotated[
    str | None,
    typer.Option(
        "--design",
        metavar="D",
        help="Of a folder of trainings: sobol:64, random:200, grid:5x5, corners.",
    ),
]
RunEpisodes = Annotated[
    int | None,
    typer.Option(
        "--episodes",
        metavar="K",
        help="Of a folder of trainings: with each set told, at a point; 16.",
        parser=whole("--episodes", 1, 10**6, "a number"),
    ),
]
RunWorlds = Annotated[
    int | None,
    typer.Option(
        "--worlds",
        metavar="N",
        help="Of a folder of trainings: draws of the parameters, an episode each; 512.",
        parser=whole("--worlds", 80, 10**6, "a number"),
    ),
]
