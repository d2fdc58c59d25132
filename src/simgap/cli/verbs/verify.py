"""Compute finished cells of a sweep again and compare every byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import AsJson, Seed, whole
from simgap.cli.app.output import finish, print_line, telling
from simgap.cli.app.sweeps import (
    Address,
    EngineName,
    Folder,
    Workers,
    chosen_engine,
)
from simgap.text import counted

if TYPE_CHECKING:
    from simgap.records import Verify


def run(
    context: typer.Context,
    folder: Folder,
    cells: Annotated[
        int,
        typer.Option(
            "--cells",
            metavar="K",
            help="How many, chosen at random.",
            parser=whole("--cells", 1, 10**7, "a number of cells"),
        ),
    ] = 10,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Compute finished cells again. Exit status 1 if one comes to something else.

    Example: simgap verify rivers --cells 20
    """
    from simgap.sweeps import verify

    with telling("cells"):
        answer = verify(
            folder,
            cells=cells,
            seed=seed,
            engine=chosen_engine(engine, address, workers),
        )
    finish(answer, context, None, print_answer, as_json=as_json)
    return 0 if answer.equal == answer.checked else 1


def print_answer(answer: Verify) -> None:
    """Print how many cells came to the same bytes."""
    print_line(
        f"{answer.equal} of {counted(answer.checked, 'cell')} came to the same bytes"
    )
    for each in answer.different:
        print_line(f"different: {each.line}")
