"""How far a sweep is, also while it runs."""

from __future__ import annotations

import typer

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.output import finish
from simgap.cli.app.sweeps import Folder, print_sweep as print_answer


def run(context: typer.Context, folder: Folder, as_json: AsJson = False) -> None:
    """Say how many cells of a sweep are done, failed and running.

    Example: simgap status rivers
    """
    from simgap.sweeps.state import status

    finish(status(folder), context, None, print_answer, as_json=as_json)
