"""Many cells of one question, from a plan: models, horizons, policies, seeds."""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.output import finish, telling
from simgap.cli.app.sweeps import (
    Address,
    EngineName,
    Workers,
    chosen_engine,
    finish_sweep,
    print_sweep as print_answer,
    resumable,
)


def run(
    context: typer.Context,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A file, plan.toml.")],
    out: Annotated[
        str, typer.Option("--out", metavar="RUN", help="Where everything goes.")
    ] = "simgap-sweep",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what it would take, and run nothing."),
    ] = False,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: AsJson = False,
) -> int:
    """Run every cell of a plan. Exit status 1 if a cell failed.

    What is finished is kept at once; the same command goes on after any stop, and a
    changed plan re-uses what is still valid. Ctrl-C ends the cells that run first, a
    second one stops at once.

    Example: simgap sweep plan.toml --out rivers
    """
    from simgap.sweeps.cost import dry_run as asked_only
    from simgap.sweeps.sweep import sweep

    machine = chosen_engine(engine, address, workers)
    if dry_run:
        with telling("timing a few cells"):
            answer = asked_only(plan, out=out, engine=machine)
        finish(answer, context, None, print_answer, as_json=as_json)
        return 0
    with resumable(out) as tell:
        answer = sweep(plan, out=out, engine=machine, progress=tell)
    return finish_sweep(answer, context, out, print_answer, as_json=as_json)
