"""Everything on one example, with a page to look at.

Four FrozenLakes that differ in how often a step goes where it should; which one is the
real lake is not known. The demo is `simgap study` of the four: verdict, losses, blame,
width, how fast lakes are told apart. It writes the class, the policies, the records and
a page that can be sent to a colleague.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.output import finish, made_folder, print_line, print_table, telling
from simgap.cli.verbs.study import print_answer as print_study, say_verdict
from simgap.text import gap_number, number, shown

if TYPE_CHECKING:
    from simgap.records import Study

LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
DEFAULT_LAKE = 0  # Gymnasium's own: success_rate = 1/3
HORIZON = 200
TIME_LIMIT = 60.0


def run(
    context: typer.Context,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where to put the files.")
    ] = "simgap-demo",
    as_json: AsJson = False,
) -> None:
    """Ask everything about four frozen lakes and write a page about it.

    A robot crosses a frozen lake; a step goes where it should with probability
    success_rate, which nobody has measured. Reaching the goal pays 1, and both the goal
    and the holes lead back to the start.

    Example: simgap demo --out lakes
    """
    from simgap.answers import study
    from simgap.cli.app.compiling import WHOLE_STUDY, compile_ahead
    from simgap.cli.app.models import read_model
    from simgap.report import write_explorer

    folder = made_folder(out)
    compile_ahead(*WHOLE_STUDY)
    with telling("planning") as tell:
        answer = study(
            read_model(LAKES),
            HORIZON,
            out=folder,
            time_limit=TIME_LIMIT,
            agents=False,  # each compiles for ten seconds, once
            alone=DEFAULT_LAKE,
            command=str(context.obj),
            draw=write_explorer,
            judged=say_verdict,
            progress=tell,
        )
    finish(answer, context, None, print_answer, as_json=as_json)


def print_answer(answer: Study) -> None:
    """Print what is lost on every lake, then what a study prints."""
    found = answer.oracle
    single = found.baselines["single-simulator"].cross_gaps
    assert single is not None
    print_table(
        f"crossings lost in {found.horizon} steps, if this is the real lake",
        ("real lake", "best", "default lake alone", "no memory", "memory"),
        [
            (
                shown(each.name),
                number(each.optimal, 5),
                *(gap_number(gap, found.noise, 4) for gap in (alone, plain, each.gap)),
            )
            for each, alone, plain in zip(
                found.models,
                single[DEFAULT_LAKE],
                found.baselines["memoryless"].gaps,
                strict=True,
            )
        ],
        "certified; `best` is what a robot gets that knows the lake",
    )
    print_study(answer)
    print_line("next    simgap audit, gap, blame, width, identify: docs/first-hour.md")
