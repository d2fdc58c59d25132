"""Run the failed cells of a sweep again."""

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
    """Run the cells of a sweep that failed, and those that are missing.

    Example: simgap retry rivers
    """
    from simgap.sweeps.sweep import retry

    with resumable(folder) as tell:
        answer = retry(
            folder,
            engine=chosen_engine(engine, address, workers),
            progress=tell,
        )
    return finish_sweep(answer, context, folder, print_answer, as_json=as_json)
