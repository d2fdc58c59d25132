"""Go on with a sweep that was stopped."""

from __future__ import annotations

import typer

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.sweeps import (
    Address,
    EngineName,
    Folder,
    Workers,
    chosen_engine,
    finish_sweep,
    print_sweep as print_answer,
    resumable,
)


def run(
    context: typer.Context,
    folder: Folder,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: AsJson = False,
) -> int:
    """Run the cells of a sweep that are missing; failed ones stay as they are.

    Example: simgap resume rivers
    """
    from simgap.sweeps.sweep import resume

    with resumable(folder) as tell:
        answer = resume(
            folder,
            engine=chosen_engine(engine, address, workers),
            progress=tell,
        )
    return finish_sweep(answer, context, folder, print_answer, as_json=as_json)
