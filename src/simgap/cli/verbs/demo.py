"""`simgap demo`: every question on one page, about a lake that is slippery somehow.

Four FrozenLakes that differ in how often a step goes where it should; which one is the
real lake is not known. The demo is `simgap study` of the four: verdict, losses, blame,
width, how fast lakes are told apart. It writes the class, the policies, the records and
a page that can be sent to a colleague.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.options import AsJson

if TYPE_CHECKING:
    from simgap.records import Study as StudyRecord

LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
DEFAULT_LAKE = 0  # Gymnasium's own: success_rate = 1/3
HORIZON = 200
GAP_TOLERANCE = 0.1
TIME_LIMIT = 60.0
SEED = 0


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
    from simgap.cli.app.models import read_model
    from simgap.cli.app.output import made_folder, print_json
    from simgap.cli.verbs.study_parts import Study, studied
    from simgap.oracle import AutoOracle

    folder = made_folder(out)
    answer = studied(
        Study(
            latent=read_model(LAKES).latent,
            horizon=HORIZON,
            folder=folder,
            solver=AutoOracle(
                gap_tolerance=GAP_TOLERANCE, time_limit=TIME_LIMIT, seed=SEED
            ),
            command=str(context.obj),
            model=LAKES,
            agents=False,
            alone=DEFAULT_LAKE,
        )
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _print(answer: StudyRecord) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.cli.verbs.study import print_answer
    from simgap.text import gap_number, number, shown

    found = answer.oracle
    single = found.baselines["single-simulator"].cross_gaps
    memoryless = found.baselines["memoryless"].gaps
    assert single is not None
    print_table(
        f"crossings lost in {found.horizon} steps, if this is the real lake",
        ("real lake", "best", "default lake alone", "no memory", "memory"),
        [
            (
                shown(each.name),
                number(each.optimal, 5),
                gap_number(alone, found.noise, 4),
                gap_number(plain, found.noise, 4),
                gap_number(each.gap, found.noise, 4),
            )
            for each, alone, plain in zip(
                found.models, single[DEFAULT_LAKE], memoryless, strict=True
            )
        ],
        "certified; `best` is what a robot gets that knows the lake",
    )
    print_answer(answer)
    print_line("next    simgap audit, gap, blame, width, identify: docs/first-hour.md")
