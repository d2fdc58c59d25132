"""An agent in its real models, for millions of steps.

Every model of the class is made the real one in turn, and the agent is run in it with
as many seeds as asked for. The answer is what it lost there, with intervals, how often
it dropped the real model, and how fast it ran.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import (
    SECONDS,
    AsJson,
    Horizon,
    Model,
    Seed,
    Threads,
    needed_horizon,
    real as real_number,
    threads_or_all,
    whole,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    speak_of,
    telling,
    working,
)

if TYPE_CHECKING:
    from pathlib import Path

    from simgap.records.run import Run


def run(
    context: typer.Context,
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="An agent; likelihood is the best.")
    ],
    model: Model,
    horizon: Horizon = None,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            metavar="K",
            help="Runs in every real model.",
            parser=whole("--seeds", 2, 10**7, "a number"),
        ),
    ] = 100,
    real: Annotated[
        str,
        typer.Option("--real", metavar="all|I", help="Which model is the real one."),
    ] = "all",
    seed: Seed = 0,
    threads: Threads = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning, for oracle; default 60. Runs come on top.",
            parser=real_number("--time-limit", hint=SECONDS),
        ),
    ] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="The rule as the paper prints it.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Write a record and a page there."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an agent in real models and measure what it loses.

    POLICY is likelihood (the one to use), variance, posterior-sampling, elimination,
    optimistic, general, explore-then-commit, oracle, memoryless, mean-model, ucrl2,
    ucrl2b, psrl or random. With general a parameter of MODEL may be an interval a..b:
    the agent knows all of these models, infinitely many, and is run at the ends and in
    the middle.

    Example: simgap run likelihood 'riverswim?success=0.1:0.6:3&uniform=true' -H 1e6
    """
    from simgap.answers.run.run import run as run_agent, run_model

    _check_order(policy, model)
    steps = needed_horizon(horizon)
    folder = folder_of(out)
    with working(f"reading {model[:80]}"):
        given = run_model(model)
    speak_of(given.latent)
    with telling(f"preparing {policy[:80]}") as tell:
        answer = run_agent(
            policy,
            given,
            steps,
            seeds=seeds,
            real=real,
            seed=seed,
            threads=threads_or_all(threads),
            time_limit=time_limit,
            literal=literal,
            curves=folder is not None,
            progress=tell,
        )
    if folder is not None:
        answer = _on_a_page(answer, context, folder)
    finish(answer, context, None, as_json=as_json)


def _check_order(policy: str, model: str) -> None:
    """Raise if there is no such policy, and say if POLICY and MODEL are swapped."""
    from shlex import quote

    from simgap.base_policies.catalogue import POLICIES, named_policy
    from simgap.errors import InvalidArgument

    names = [each.name for each in POLICIES]
    if policy not in names and model in names:
        raise InvalidArgument(
            f"there is no policy {policy[:60]!r}, but {model} is one",
            hint=f"POLICY comes first: simgap run {model} {quote(policy[:100])}",
        )
    named_policy(policy)


def _on_a_page(answer: Run, context: typer.Context, folder: Path) -> Run:
    """Keep the record in a folder, draw all that is there, and say where."""
    from dataclasses import replace

    from simgap.records.kept import write_record
    from simgap.records.record import with_command
    from simgap.report.explorer import write_explorer

    page = folder / "report.html"
    kept = with_command(answer, str(context.obj))
    write_record(kept, folder / f"run-{answer.policy}.json")
    write_explorer(folder, page)
    return replace(answer, page=str(page))
