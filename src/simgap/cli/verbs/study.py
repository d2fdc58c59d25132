"""`simgap study`: every question about a class, one folder of records, one page.

Each answer is written as soon as it is there, so that a study can be stopped; started
again with the same class, horizon and seed it keeps the answers that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model, Seed

if TYPE_CHECKING:
    from simgap.records import Study as StudyRecord

TIME_LIMIT = 30.0
GAP_TOLERANCE = 0.1


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where to put the files.")
    ] = "simgap-study",
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds for each planning of the whole class; default 30.",
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            "--log", metavar="FILE.csv", help="Real transitions, as for simgap adapt."
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Answer again what is answered already.")
    ] = False,
    refined: Annotated[
        bool,
        typer.Option("--refine", help="Audit finer grids until the answer stays."),
    ] = False,
    seed: Seed = "0",
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Ask everything about a class and write a page: verdict, blame, width and more.

    The folder has a record of every answer (audit, oracle, gap, blame, width,
    identify and, with --log, adapt), both policies, the class, and report.html.

    Example: simgap study 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 50
    """
    from pathlib import Path

    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of, needed_horizon, seconds_of, seed_of
    from simgap.cli.app.output import made_folder, print_json
    from simgap.cli.verbs.study_parts import Study, studied
    from simgap.interop import read_transition_log
    from simgap.oracle import AutoOracle

    steps, number = needed_horizon(horizon), seed_of(seed)
    limit = seconds_of(time_limit)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    if log is not None:  # it is used last: refuse a bad one before all the planning
        read_transition_log(Path(log), latent.simulators)
    study = Study(
        latent=latent,
        horizon=steps,
        folder=made_folder(out),
        solver=AutoOracle(
            gap_tolerance=GAP_TOLERANCE,
            time_limit=TIME_LIMIT if limit is None else limit,
            seed=number,
        ),
        log=None if log is None else Path(log),
        fresh=fresh,
        refined=refined,
        command=str(context.obj),
        model=model,
    )
    answer = studied(study)
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def print_answer(answer: StudyRecord) -> None:
    """Print the verdict, the story, one line for each question, and where files are."""
    from simgap.cli.app.output import print_line

    print_line(answer.headline)
    print_line(f"  {answer.reason}")
    print_line("")
    for chapter in answer.story:
        print_line(f"- {chapter.text}")
    for line in answer.findings:
        print_line(f"- {line}")
    print_line("")
    print_line(f"page    {answer.report}")
    print_line(f"records {', '.join(answer.records.values())}")
    print_line(f"model   {answer.model_file}")
    kept = answer.oracle
    print_line(f"policy  {kept.policy_file}, {kept.belief_policy_file}")
