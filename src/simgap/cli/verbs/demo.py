"""Everything on one example, with a page to look at.

Four FrozenLakes that differ in how often a step goes where it should; which one is the
real lake is not known. The demo is `simgap study` of the four: verdict, losses, blame,
width, how fast lakes are told apart. It writes the class, the policies, the records and
a page that can be sent to a colleague.

With --continuous, a policy trained by PPO balances poles that are longer and motors
that are weaker than those it was trained on, and acts late: `simgap check` and `simgap
transfer` of the network that is shipped, against a rule of one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.output import finish, print_line, print_table, telling
from simgap.cli.verbs.study import print_answer as print_study, say_verdict
from simgap.text import gap_number, number, shown

if TYPE_CHECKING:
    from pathlib import Path

    from simgap.records.study import Study

LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
DEFAULT_LAKE = 0  # Gymnasium's own: success_rate = 1/3
HORIZON = 200
TIME_LIMIT = 60.0
POLES = "length=0.3..1.5 masspole=0.05..0.8 force_mag=3..14 delay={0,1,2}"
POINTS = "sobol:64"


def run(
    context: typer.Context,
    continuous: Annotated[
        bool,
        typer.Option("--continuous", help="A network on randomized cart-poles."),
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Where to put the files; simgap-demo, or simgap-demo-continuous.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask everything about four frozen lakes and write a page about it.

    A robot crosses a frozen lake; a step goes where it should with probability
    success_rate, which nobody has measured. Reaching the goal pays 1, and both the goal
    and the holes lead back to the start.

    With --continuous: where does a network fail that balances a pole? Needs the extra
    simgap[continuous].

    Example: simgap demo --out lakes
    """
    from simgap.user_files import made_folder

    if continuous:
        _poles(context, made_folder(out or "simgap-demo-continuous"), as_json=as_json)
        return
    from simgap.answers.study.entry import study
    from simgap.cli.app.models import read_model
    from simgap.report.explorer import write_explorer

    folder = made_folder(out or "simgap-demo")
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


def _poles(context: typer.Context, folder: Path, *, as_json: bool) -> None:
    """Check and measure the network that is shipped, and draw the page."""
    from pathlib import Path

    from simgap.answers.transfer.check import check
    from simgap.answers.transfer.transfer import transfer
    from simgap.cli.app.arguments import threads_or_all
    from simgap.records.kept import write_record
    from simgap.records.record import with_command
    from simgap.report.explorer import write_explorer

    shipped = Path(__file__).parent.parent / "shipped"
    network = f"ppo={shipped / 'cartpole_mlp.onnx'}"
    with telling("measuring") as tell:
        checked = check("cartpole", network, randomize=POLES, progress=tell)
        checked = with_command(checked, str(context.obj))
        write_record(checked, folder / "check.json")
        answer = transfer(
            "cartpole",
            network,
            randomize=POLES,
            references=f"lean={shipped / 'cartpole_lean.py'}:lean",
            design=POINTS,
            workers=threads_or_all(None),
            out=folder,
            progress=tell,
        )
    finish(answer, context, folder, as_json=as_json, name="transfer")
    page = folder / "report.html"
    write_explorer(folder, page)
    if not as_json:
        print_line(f"page    {page}")
        print_line("next    simgap check, transfer, adapt: docs/real-simulators.md")


def print_answer(answer: Study) -> None:
    """Print what a study prints after what is lost on every lake."""
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
