"""What each policy loses in each model that may be real.

Rows are policies, columns real models. Policies without memory and policy graphs have
certified gaps; agents whose histories are few enough to follow have them too; all
others are run with common random numbers and have intervals. Then what memory and
randomization are worth, and with --horizons how all of it grows with H.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simgap.cli.app.arguments import (
    AsJson,
    GapTolerance,
    Horizon,
    Model,
    Out,
    Seed,
    Threads,
    TimeLimit,
    needed_horizon,
    real,
    whole,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    print_line,
    print_notes,
    print_table,
    telling,
)
from simgap.errors import InvalidArgument, InvalidInstance
from simgap.intervals import Estimate, Interval
from simgap.text import (
    between,
    ends,
    gap_bracket,
    gap_number,
    number,
    shown,
    without_common_part,
)

if TYPE_CHECKING:
    from simgap.records.gap import Gap

NOISE = 1e-8  # a gap below this is shown as 0
MOST_COLUMNS = 6  # models that a terminal shows


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="P",
            help="One of them, or [NAME=]file.py:function, file.onnx, file.simgap; may "
            "be repeated.",
        ),
    ] = None,
    horizons: Annotated[
        str | None,
        typer.Option(
            "--horizons",
            metavar="LIST",
            help="Also at these horizons: 10,50,200 or 10:200:5, or all for the "
            "usual ones.",
        ),
    ] = None,
    agents: Annotated[
        bool,
        typer.Option(help="Run agents that find out while they act, too."),
    ] = True,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            metavar="K",
            help="Runs where sampling is needed.",
            parser=whole("--seeds", 2, 10**7, "a number"),
        ),
    ] = 400,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width",
            metavar="X",
            help="Run until intervals are ±X.",
            parser=real("--half-width", hint="it is a loss above 0"),
        ),
    ] = None,
    gap_tolerance: GapTolerance = 0.1,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare policies: what each loses in each model that may be the real one.

    --policy is one of the agents of simgap run, or one planned for the class: oracle,
    oracle-belief, memoryless, mean-model, single-simulator, minimax, window-1,
    window-2. Or it is one of yours: a policy file of simgap (certified, if it is a
    table or a graph), zero, file.onnx, or file.py:function, which is called
    f(state, memory) and returns (action, memory); the file is run as it is. By default
    all that simgap knows are compared, with what memory and randomization are worth.

    Example: simgap gap 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 100
    """
    from simgap.answers.compare import compare
    from simgap.cli.app.models import read_model

    lengths, folder = _horizons(horizons), folder_of(out)
    with telling("planning") as tell:
        answer = compare(
            read_model(model),
            needed_horizon(horizon),
            policies=policy or (),
            horizons=lengths,
            agents=agents,
            seeds=seeds,
            half_width=half_width,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            threads=threads,
            progress=tell,
        )
    finish(answer, context, folder, print_answer, as_json=as_json)


def _horizons(text: str | None) -> tuple[int, ...] | Literal["all"]:
    """Return the horizons that a text names."""
    if text is None:
        return ()
    if text.strip().lower() == "all":
        return "all"
    from simgap.instances import Kind, read_value

    try:
        points = read_value("horizons", text, Kind.POINTS)
    except InvalidInstance as error:
        raise InvalidArgument(
            f"--horizons is {text[:60]!r}: {error.problem}",
            hint="write for instance 10,50,200 or 10:200:5, or all",
        ) from error
    return tuple(round(float(point)) for point in points)


def print_answer(answer: Gap) -> None:
    """Print the table, and what memory and randomization are worth."""
    names, common = without_common_part(list(answer.names))
    few = names[:MOST_COLUMNS]
    print_table(
        f"what is lost in {answer.horizon} steps in {shown(answer.provenance.model)}",
        ("policy", "average", "worst", *(shown(n, 12) for n in few)),
        [
            (
                each.name,
                _gap(each.average),
                _gap(each.worst),
                *(_gap(m.gap) for m in each.models[: len(few)]),
            )
            for each in answer.policies
        ],
        "by real model"
        + (f" ({common})" if common else "")
        + "; an estimate is a number with its interval of 95 %, the others are "
        "certified",
    )
    if len(names) > len(few):
        print_line(f"{len(names) - len(few)} more models; --json has them all")
    _print_worth(answer)
    for why in dict.fromkeys(answer.left_out.values()):
        left = [name for name, each in answer.left_out.items() if each == why]
        print_line(f"left out: {', '.join(left)}: {why}")
    print_notes(answer.notes)


def _print_worth(answer: Gap) -> None:
    print_line(f"acting at random loses {number(answer.at_stake, 4)} (certified)")
    for line in () if answer.memory is None else answer.memory.sentences():
        print_line(line)
    if answer.value_of_memory is not None:
        print_line(f"memory is worth {between(answer.value_of_memory)} (certified)")
    if answer.value_of_randomization is not None:
        print_line(
            "training on all models instead of the best single one is worth "
            f"{between(answer.value_of_randomization)} (certified)"
        )
    if answer.by_horizon:
        print_table(
            "as episodes get longer",
            ("H", "oracle", "without memory", "at random", "least theorem"),
            [
                (
                    str(each.horizon),
                    gap_bracket(each.average_gap, NOISE, 4),
                    gap_bracket(each.memoryless, NOISE, 4),
                    number(each.random, 4),
                    number(min((b.value for b in each.bounds), default=None), 4),
                )
                for each in answer.by_horizon
            ],
            "average loss, certified; theorems bound the oracle's loss in any model",
            texts=0,
        )


def _gap(gap: Interval) -> str:
    if not isinstance(gap, Estimate):
        return gap_bracket(gap, NOISE, 4)
    middle = gap_number(gap.estimate, NOISE, 4)
    low, high = (0.0 if abs(end) <= NOISE else end for end in gap.ends)
    parts = ends(low, high, 3)
    return middle if len(parts) == 1 else f"{middle} [{', '.join(parts)}]"
