"""Which hidden parameter causes the loss.

The loss of the best agent that does not know the real model is shared out over the
parameters that make the models, by Shapley's rule: what not knowing each one adds to
the loss, averaged over all orders in which they could be hidden. Of a folder of
trainings: what knowing each one is worth to a policy that was trained with --masked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from simgap.cli.app.adapted_simulator import refuse
from simgap.cli.app.arguments import (
    AsJson,
    GapTolerance,
    Horizon,
    Out,
    Seed,
    Threads,
    TimeLimit,
    needed_horizon,
    threads_or_all,
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
from simgap.cli.app.trained_runs import (
    NOT_OF_A_RUN,
    OF_A_RUN,
    ModelOrRun,
    RunDesign,
    RunEpisodes,
    TrainingName,
    print_blamed,
)
from simgap.errors import InvalidArgument
from simgap.text import ends, gap_bracket, gap_number, number, shown

if TYPE_CHECKING:
    from simgap.intervals import Interval
    from simgap.records.blame import Blame, BlamedParameter
    from simgap.records.blame_run import BlamedRun

BAR = 16  # characters of a whole bar
MOST_POINTS = 8  # rows of a curve
EXACT = 400  # classes


def names_of(text: str) -> tuple[str, ...]:
    """Return the names in one --group."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InvalidArgument(
            f"--group {text[:80]!r} has an empty name",
            hint="write names with commas between them: --group mass,length",
        )
    return names


def run(
    context: typer.Context,
    model: ModelOrRun,
    horizon: Horizon = None,
    group: Annotated[
        list[Any] | None,
        typer.Option(
            "--group",
            metavar="P,Q",
            help="Parameters that count as one; may be repeated.",
            parser=names_of,
        ),
    ] = None,
    nominal: Annotated[
        str | None,
        typer.Option(
            "--nominal",
            metavar="NAME",
            help="The model a team would plan for, or its number; default: the middle.",
        ),
    ] = None,
    exact_up_to: Annotated[
        int,
        typer.Option(
            "--exact-up-to",
            metavar="N",
            help="Classes to plan; if there are more, orders are sampled.",
            parser=whole("--exact-up-to", 0, 10**6, "a number"),
        ),
    ] = EXACT,
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations",
            metavar="K",
            help="Orders of the parameters to sample, every second one a reverse; 100, "
            "of a folder of trainings 24.",
            parser=whole("--permutations", 4, 10**6, "a number"),
        ),
    ] = None,
    gap_tolerance: GapTolerance = 0.05,
    time_limit: TimeLimit = 120.0,
    policy: TrainingName = None,
    design: RunDesign = None,
    episodes: RunEpisodes = None,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Share out the loss over the hidden parameters: which one to measure first.

    Shares sum to the loss of the best agent that does not know the real model. A
    parameter without any effect has a share of exactly 0. Beside each share: the loss
    if only this parameter is hidden, what knowing it is worth, and its share of what a
    plan for the nominal model alone loses.

    If MODEL is a folder of simgap train: shares of what it is worth to be told all
    parameters, measured by telling them to a policy that was trained with --masked.

    Example: simgap blame 'windy_grid?size=5&strength=0.2,0.8' -H 40
    """
    from pathlib import Path

    from simgap.answers.blame.blame import blame
    from simgap.answers.blame.blame_run import blame_run
    from simgap.answers.transfer.trained_run import is_run
    from simgap.cli.app.models import read_model

    folder = folder_of(out)
    if is_run(model):
        planned = {"-H": horizon, "--group": group, "--nominal": nominal}
        planned["--exact-up-to"] = exact_up_to != EXACT
        refuse(planned, NOT_OF_A_RUN, "blame")
        with telling("measuring") as tell:
            found = blame_run(
                model,
                policy=policy,
                design=design or "sobol:64",
                episodes=episodes or 16,
                orders=permutations or 24,
                seed=seed,
                workers=threads_or_all(threads),
                out=folder,
                progress=tell,
            )
        finish(
            found,
            context,
            folder or Path(model),
            print_answer,
            as_json=as_json,
            name=found.kind,
        )
        return
    measured = {"--policy": policy, "--design": design, "--episodes": episodes}
    refuse({**measured, "--threads": threads}, OF_A_RUN, "blame")
    steps = needed_horizon(horizon)
    with telling("planning") as tell:
        answer = blame(
            read_model(model),
            steps,
            groups=tuple(group or ()),
            nominal=nominal,
            exact_up_to=exact_up_to,
            permutations=permutations or 100,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, print_answer, as_json=as_json)


def print_answer(answer: Blame | BlamedRun) -> None:
    """Print who is to blame."""
    from simgap.records.blame import Blame

    if isinstance(answer, Blame):
        _print_class(answer)
    else:
        print_blamed(answer)


def _print_class(answer: Blame) -> None:
    """Print a table sorted by share, the curve of the first one, and what it means."""
    noise = 10.0 * answer.rounding
    steps = "one step" if answer.horizon == 1 else f"{answer.horizon} steps"
    model = shown(answer.provenance.model)
    print_line(f"Which hidden parameter causes the loss? {model}, {steps}")
    print_line("")
    print_line(
        f"The best agent that does not know the real model loses "
        f"{gap_bracket(answer.whole, noise)} on average (certified)."
    )
    print_line("")
    ranked = sorted(answer.parameters, key=lambda each: -each.share.middle)
    print_table(
        "what each parameter causes of it",
        ("parameter", "", "share", "of the loss", "alone", "knowing it", "ignored"),
        [
            (
                shown(each.name),
                _bar(each),
                gap_bracket(each.share, noise, 3),
                "-" if each.part is None else _percent(each.part),
                gap_bracket(each.alone, noise, 3),
                gap_bracket(each.information, noise, 3),
                "-"
                if each.ignored is None
                else gap_number(each.ignored.middle, noise, 3),
            )
            for each in ranked
        ],
        "alone: lost if only this is hidden; knowing it: what that is worth; ignored: "
        f"its share of the {number(answer.ignored_whole, 4)} that a plan for "
        f"{shown(answer.nominal, 40)} alone loses; "
        + _on_negative_shares(answer, noise)
        + (
            "all certified"
            if answer.permutations is None
            else "shares are estimated, the rest is certified"
        ),
        texts=2,
    )
    if answer.whole.upper > noise:
        _print_curve(ranked[0], noise)
    print_line(answer.headline)
    print_notes(answer.notes)


def _print_curve(first: BlamedParameter, noise: float) -> None:
    """Print what is lost value by value of the parameter that causes most."""
    if len(first.curve) < 2:
        return
    step = -(-len(first.curve) // MOST_POINTS)
    print_table(
        f"if {shown(first.name)} is really",
        ("value", "loss", "loss if it is known"),
        [
            (
                shown(each.value, 40)
                if isinstance(each.value, str)
                else number(each.value, 5),
                gap_number(each.loss, noise, 4),
                gap_bracket(each.told, noise, 4),
            )
            for each in first.curve[::step]
        ],
        "loss: of the certified policy that knows no parameter; averages over the rest"
        + ("" if step == 1 else f"; every {step}th value, --json has them all"),
    )


def _bar(parameter: BlamedParameter) -> str:
    if parameter.part is None:
        return ""
    filled = round(BAR * parameter.part.middle)
    return "#" * filled + "." * (BAR - filled)


def _percent(part: Interval) -> str:
    return f"{' to '.join(ends(100.0 * part.lower, 100.0 * part.upper, 3))} %"


def _on_negative_shares(answer: Blame, noise: float) -> str:
    shares = [each.ignored.middle for each in answer.parameters if each.ignored]
    if min(shares, default=0.0) >= -noise:
        return ""
    return "negative: this difference makes up for another; "
