"""Everything about your own class or simulator, with a page to look at.

Each answer is written as soon as it is there, so that a study can be stopped; started
again with the same words it keeps what is there, and goes on.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.adapted_simulator import refuse
from simgap.cli.app.arguments import (
    SECONDS,
    AsJson,
    Horizon,
    Model,
    Noise,
    Randomize,
    Seed,
    Threads,
    needed_horizon,
    real,
    threads_or_all,
    whole,
)
from simgap.cli.app.output import (
    finish,
    print_line,
    print_notes,
    say,
    telling,
)

if TYPE_CHECKING:
    from simgap.records.audit import Audit
    from simgap.records.study import Study
    from simgap.records.study_run import StudyRun


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where to put the files.")
    ] = "simgap-study",
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning for each question, of a class; 30. Blame and "
            "width have four times as many.",
            parser=real("--time-limit", hint=SECONDS),
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="FILE.csv",
            help="Real transitions, as for simgap adapt; - reads standard input.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Answer again what is answered already.")
    ] = False,
    randomize: Randomize = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="K",
            help="Trainings of each kind, of a simulator; 5, or 3 if time is short.",
            parser=whole("--seeds", 1, 1000, "a number"),
        ),
    ] = None,
    time_budget: Annotated[
        float | None,
        typer.Option(
            "--time-budget",
            metavar="S",
            help="Seconds that the study of a simulator may take in all.",
            parser=real("--time-budget", hint=SECONDS),
        ),
    ] = None,
    noise: Noise = None,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Ask everything about a class or a simulator and write a page with the answers.

    The folder has a record of every answer (audit, oracle, gap, blame, width,
    identify and, with --log, adapt), both policies, the class, and report.html.

    With --randomize 'mass=0.5..2' MODEL is a simulator, such as pendulum: policies are
    trained with memory, without, and told the parameters; graded; and compared. Stopped
    at any moment, the same command goes on where it was.

    Example: simgap study 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 50
    """
    from simgap.answers.study.entry import study
    from simgap.answers.study.simulator import study_simulator
    from simgap.cli.app.models import read_model
    from simgap.report.explorer import write_explorer
    from simgap.user_files import made_folder

    if randomize is not None:
        refuse(
            {"--time-limit": time_limit, "--log": log},
            "leave it out: with --randomize policies are trained, nothing is planned",
            "study",
        )
        with telling("training") as tell:
            found = study_simulator(
                model,
                horizon=horizon,
                randomize=randomize,
                noise=noise or "",
                seeds=seeds,
                time_budget=time_budget,
                out=made_folder(out),
                fresh=fresh,
                seed=seed,
                workers=threads_or_all(threads),
                command=str(context.obj),
                draw=write_explorer,
                announce=say,
                progress=tell,
            )
        finish(found, context, None, print_answer, as_json=as_json)
        return
    refuse(
        {"--noise": noise, "--seeds": seeds, "--time-budget": time_budget},
        "it needs a simulator: --randomize 'mass=0.5..2'",
        "study",
    )
    steps = needed_horizon(horizon)
    with telling("planning") as tell:
        answer = study(
            read_model(model),
            steps,
            out=made_folder(out),
            time_limit=30.0 if time_limit is None else time_limit,
            log=sys.stdin.buffer if log == "-" else log,
            fresh=fresh,
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


def print_answer(answer: Study | StudyRun) -> None:
    """Print the verdict, the story, one line for each question, and where files are."""
    from simgap.records.study_run import StudyRun

    if isinstance(answer, StudyRun):
        for each in answer.answers:
            print_line(f"- {each.line}")
        print_notes(answer.notes)
        print_line("")
        print_line(f"page    {answer.report}")
        print_line(f"records {', '.join(answer.records.values())}")
        return
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
