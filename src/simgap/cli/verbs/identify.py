"""How fast models are told apart, and what an agent finds out.

Pairs belong to the best experiment, the timeline to the oracle, which wants reward and
learns on the way. Without -H there is no oracle, and the timeline is null. Of a folder
of trainings: when a policy with memory stops losing, and what its memory holds.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.adapted_simulator import refuse
from simgap.cli.app.arguments import (
    AsJson,
    GapTolerance,
    Horizon,
    Out,
    Seed,
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
from simgap.cli.app.trained_runs import (
    COLUMNS,
    NOT_OF_A_RUN,
    OF_A_RUN,
    ModelOrRun,
    ReferenceName,
    RunWorlds,
    TrainingName,
    print_identified,
    some_of,
)
from simgap.text import number, shown, without_common_part

if TYPE_CHECKING:
    from simgap.intervals import Certified, Estimate
    from simgap.records.identify import Identify, ModelPair, Timeline
    from simgap.records.identify_run import IdentifiedRun

MOST_PAIRS = 15
MOST_MODELS = 15
ERROR, EPISODES = 0.05, 5_000
WORLDS = 512
GUESS = "it is the chance of a wrong guess: above 0 and below 0.5, such as 0.05"


def run(
    context: typer.Context,
    model: ModelOrRun,
    horizon: Horizon = None,
    error: Annotated[
        float,
        typer.Option(
            "--error",
            metavar="E",
            help="Chance of a wrong guess that is allowed.",
            parser=real("--error", below=0.5, hint=GUESS),
        ),
    ] = ERROR,
    episodes: Annotated[
        int,
        typer.Option(
            "--episodes",
            metavar="K",
            help="At most, in each model of the timeline.",
            parser=whole("--episodes", 2, 10**6, "a number"),
        ),
    ] = EPISODES,
    gap_tolerance: GapTolerance = 0.2,
    time_limit: TimeLimit = 60.0,
    policy: TrainingName = None,
    reference: ReferenceName = None,
    worlds: RunWorlds = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Say how fast models are told apart, and with -H what the oracle finds out.

    For each pair: the steps that the best experiment needs, between two whole numbers,
    and the state and action to look at. With -H: the probability that the oracle's
    posterior gives to the real model, over time.

    If MODEL is a folder of simgap train: what a policy with memory loses at each step
    against one that is told the parameters, and how well they can be read from its
    memory.

    Example: simgap identify 'riverswim?states=6&success=0.2:0.5:4' -H 100
    """
    from pathlib import Path

    from simgap.answers.identify.identify import identify
    from simgap.answers.identify.identify_run import identify_run
    from simgap.answers.transfer.trained_run import is_run
    from simgap.cli.app.models import read_model

    folder = folder_of(out)
    if is_run(model):
        planned = {"-H": horizon, "--error": error != ERROR}
        planned["--episodes"] = episodes != EPISODES
        refuse(planned, NOT_OF_A_RUN, "identify")
        with telling("following episodes") as tell:
            found = identify_run(
                model,
                policy=policy,
                reference=reference,
                worlds=worlds or WORLDS,
                seed=seed,
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
    of_a_run = {"--policy": policy, "--reference": reference, "--worlds": worlds}
    refuse(of_a_run, OF_A_RUN, "identify")
    with telling("comparing models") as tell:
        answer = identify(
            read_model(model),
            None if horizon is None else needed_horizon(horizon),
            error=error,
            episodes=episodes,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, print_answer, as_json=as_json)


def print_answer(answer: Identify | IdentifiedRun) -> None:
    """Print what is found out, and when."""
    from simgap.records.identify import Identify

    if isinstance(answer, Identify):
        _print_class(answer)
    else:
        print_identified(answer)


def _print_class(answer: Identify) -> None:
    """Print the hardest pairs, and how the oracle's knowledge grows."""
    if answer.slowest is None:
        print_line("one model: nothing to tell apart")
    else:
        _print_pairs(answer)
        _print_slowest(answer, answer.pairs[answer.slowest])
    if answer.timeline is not None:
        _print_timeline(answer, answer.timeline)
    print_notes(answer.notes)


def _print_pairs(answer: Identify) -> None:
    names, common = without_common_part(list(answer.names))
    hardest = sorted(answer.pairs, key=_hardness)[:MOST_PAIRS]
    print_table(
        f"telling models apart in {shown(answer.provenance.model)}",
        ("one", "other", "look at", "steps", "visits there", "distance there"),
        [
            (
                shown(names[each.first], 24),
                shown(names[each.second], 24),
                _place(each),
                _steps(each.steps),
                "-" if each.visits is None else str(each.visits),
                number(each.distance, 4) if each.state is not None else "-",
            )
            for each in hardest
        ],
        f"steps of the best experiment for a guess that errs with chance "
        f"{number(answer.error)}; certified" + (f"; names: {common}" if common else ""),
        texts=3,
    )
    if len(answer.pairs) > len(hardest):
        more = len(answer.pairs) - len(hardest)
        print_line(f"{more} easier pairs; --json has them all")


def _print_slowest(answer: Identify, pair: ModelPair) -> None:
    one, other = shown(pair.first_name, 40), shown(pair.second_name, 40)
    if pair.steps.lower == inf:
        print_line(
            f"{one} and {other} can never be told apart with an error of "
            f"{number(answer.error)}"
        )
        return
    print_line(
        f"hardest: {one} and {other}, {_steps(pair.steps)} steps; "
        f"look at {_place(pair)}"
    )


def _print_timeline(answer: Identify, timeline: Timeline) -> None:
    names, common = without_common_part([each.name for each in timeline.models])
    places = some_of(len(timeline.steps), COLUMNS)
    rows = [
        (
            shown(name, 30),
            *(_believed(each.posterior[k], k < timeline.computed) for k in places),
        )
        for name, each in zip(names, timeline.models, strict=True)
    ]
    print_table(
        "probability that the oracle gives to the real model, on average",
        ("real model", *(f"step {timeline.steps[k]}" for k in places)),
        rows[:MOST_MODELS],
        (
            "± is a 95 % interval, the others are known up to rounding"
            if timeline.episodes
            else "certified"
        )
        + (f"; names: {common}" if common else ""),
    )
    if len(rows) > MOST_MODELS:
        print_line(f"{len(rows) - MOST_MODELS} more models; --json has them all")
    last = [each.posterior[-1].estimate for each in timeline.models]
    low, high = last.index(min(last)), last.index(max(last))
    told = f"{number(last[low], 2)} ({shown(timeline.models[low].name, 40)})"
    if number(last[low], 2) != number(last[high], 2):
        told = (
            f"between {told} and {number(last[high], 2)} "
            f"({shown(timeline.models[high].name, 40)})"
        )
    print_line(
        f"after {timeline.steps[-1]} steps the oracle gives the real model {told}, "
        "on average"
    )


def _hardness(pair: ModelPair) -> tuple[float, float]:
    return -pair.steps.upper, -pair.steps.lower


def _place(pair: ModelPair) -> str:
    if pair.state_name is None or pair.action_name is None:
        return "nowhere: no difference within reach"
    return f"state {shown(pair.state_name, 20)}, action {shown(pair.action_name, 16)}"


def _steps(steps: Certified) -> str:
    lower, upper = steps.lower, steps.upper
    if lower == inf:
        return "never"
    if upper == inf:
        return f"at least {lower:.0f}"
    return f"{lower:.0f}" if lower == upper else f"{lower:.0f} to {upper:.0f}"


def _believed(found: Estimate, exact: bool) -> str:
    if exact:
        return f"{found.estimate:.3f}"
    half = max(found.upper - found.estimate, found.estimate - found.lower)
    return f"{found.estimate:.3f} ± {half:.2g}"
