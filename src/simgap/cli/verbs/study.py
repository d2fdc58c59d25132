"""Everything about your own class, with a page to look at.

Each answer is written as soon as it is there, so that a study can be stopped; started
again with the same class, horizon and seed it keeps the answers that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    MaxBytes,
    Model,
    Seed,
    TimeLimit,
    needed_horizon,
)
from simgap.cli.app.output import finish, made_folder, print_line, say, telling

if TYPE_CHECKING:
    from simgap.records import Audit, Study


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where to put the files.")
    ] = "simgap-study",
    time_limit: TimeLimit = 30.0,
    log: Annotated[
        str | None,
        typer.Option(
            "--log", metavar="FILE.csv", help="Real transitions, as for simgap adapt."
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Answer again what is answered already.")
    ] = False,
    refine: Annotated[
        bool,
        typer.Option("--refine", help="Audit finer grids until the answer stays."),
    ] = False,
    seed: Seed = 0,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Ask everything about a class and write a page: verdict, blame, width and more.

    The folder has a record of every answer (audit, oracle, gap, blame, width,
    identify and, with --log, adapt), both policies, the class, and report.html.

    Example: simgap study 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 50
    """
    from simgap.answers import study
    from simgap.cli.app.compiling import WHOLE_STUDY, compile_ahead
    from simgap.cli.app.models import read_model
    from simgap.report import write_explorer

    steps = needed_horizon(horizon)
    compile_ahead(*WHOLE_STUDY)
    with telling("planning") as tell:
        answer = study(
            read_model(model, max_bytes),
            steps,
            out=made_folder(out),
            time_limit=time_limit,
            log=log,
            fresh=fresh,
            refine=refine,
            seed=seed,
            command=str(context.obj),
            draw=write_explorer,
            judged=say_verdict,
            progress=tell,
        )
    finish(answer, context, None, print_answer, as_json=as_json)


def say_verdict(found: Audit) -> None:
    """Say the verdict on standard error: the rest takes longer."""
    say(f"verdict: {found.headline} Now the details")


def print_answer(answer: Study) -> None:
    """Print the verdict, the story, one line for each question, and where files are."""
    print_line(answer.headline)
    print_line(f"  {answer.reason}")
    print_line("")
    for chapter in answer.story:
        print_line(f"- {chapter.text}")
    for line in answer.findings:
        print_line(f"- {line}")
    print_line("")
    found = answer.oracle
    print_line(f"page    {answer.report}")
    print_line(f"records {', '.join(answer.records.values())}")
    print_line(f"model   {answer.model_file}")
    print_line(f"policy  {found.policy_file}, {found.belief_policy_file}")
