"""What real transitions say: posterior, new plan, misfit.

The posterior over models, the hidden parameters before and after, a test whether any
model explains the log at all, and the oracle planned again for the posterior.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.adapted_simulator import (
    Delay,
    Randomize,
    Rate,
    TransferRun,
    print_simulator,
    refuse,
)
from simgap.cli.app.arguments import (
    PART,
    AsJson,
    Horizon,
    Model,
    Seed,
    TimeLimit,
    needed_horizon,
    one_of,
    real,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    print_line,
    print_notes,
    print_table,
    telling,
)
from simgap.text import counted, gap_bracket, gap_number, number, shown

if TYPE_CHECKING:
    from simgap.records.adapt import Adapt, AdaptedModel
    from simgap.records.adapt_simulator import AdaptedSimulator

REWARDS = ("ignored", "exact")
CHANCE = "it is a chance above 0 and below 1, such as 0.01"
MOST_MODELS = 15  # rows of the table
NOISE = 1e-8  # a gap below this is shown as 0
P_VALUE = (
    "p-value: chance, at most, of a log that speaks this strongly against the model if "
    "it is the real one"
)


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="CSV: columns state, action, next_state; episode and step, unless "
            "lines are in order; reward, if there is one. - is standard input.",
        ),
    ] = None,
    rewards: Annotated[
        str,
        typer.Option(
            "--rewards",
            metavar="|".join(REWARDS),
            help="exact: a model whose reward is another one is excluded.",
            parser=one_of("value of --rewards", REWARDS),
        ),
    ] = "ignored",
    start_evidence: Annotated[
        bool,
        typer.Option("--start-evidence", help="First states are evidence as well."),
    ] = False,
    false_alarm: Annotated[
        float,
        typer.Option(
            "--false-alarm",
            metavar="P",
            help="Chance, at most, of an alarm if the real model is in the class.",
            parser=real("--false-alarm", below=1.0, hint=CHANCE),
        ),
    ] = 0.01,
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="FILE.simgap",
            help="Keep the new policy there, and the one that tracks the posterior "
            "in FILE.belief.simgap.",
        ),
    ] = None,
    save_model: Annotated[
        str | None,
        typer.Option(
            "--save-model",
            metavar="FILE.simgap",
            help="Keep the class there with the posterior as its prior.",
        ),
    ] = None,
    gap_tolerance: Annotated[
        float | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of a loss is this part of it; default 0.05.",
            parser=real("--gap-tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep the record there, for simgap report; with --randomize a file "
            "POSTERIOR.csv, for --randomize.",
        ),
    ] = None,
    randomize: Randomize = None,
    rate: Rate = None,
    delay: Delay = None,
    transfer: TransferRun = None,
    as_json: AsJson = False,
) -> int:
    """Turn real transitions into a posterior, a test of the class and a new plan.

    Exit status 1 if no model explains the log: randomize other parameters, or wider.
    The test holds however the data were collected and whenever one looks.

    With --randomize 'mass=0.5..2' MODEL is a simulator, such as pendulum: the answer is
    a posterior of its parameters and of the delay of actions, from predictions of one
    step and of five.

    Example: simgap adapt 'riverswim?success=0.2:0.8:4' -H 50 --log real.csv
    """
    import sys

    from simgap.answers.adapt.adapt import adapt
    from simgap.answers.adapt.evidence import RewardEvidence
    from simgap.answers.adapt.simulator import adapt_simulator
    from simgap.cli.app.models import read_model
    from simgap.errors import InvalidArgument
    from simgap.interop import HEADER

    if randomize is not None:
        refuse(
            {
                "-H": horizon,
                "--rewards exact": rewards != "ignored",
                "--start-evidence": start_evidence,
                "--save": save,
                "--save-model": save_model,
                "--gap-tolerance": gap_tolerance,
            },
            "leave it out: with --randomize nothing is planned",
        )
        if not log:
            raise InvalidArgument(
                "no log is given",
                hint="name a file with columns episode, obs_0, ..., act_0, ...: "
                "--log real.csv",
            )
        with telling("comparing predictions with the log"):
            learnt = adapt_simulator(
                model,
                randomize,
                log,
                rate=rate,
                delay=delay,
                false_alarm=false_alarm,
                transfer=transfer,
                out=out,
                seed=seed,
            )
        finish(learnt, context, None, print_answer, as_json=as_json)
        return 1 if learnt.outside_class else 0
    refuse(
        {"--rate": rate, "--delay": delay is not None, "--transfer": transfer},
        "it needs a simulator: --randomize 'mass=0.5..2'",
    )
    steps = needed_horizon(horizon)
    if not log:
        raise InvalidArgument(
            "no log is given",
            hint=f"name a CSV file with the header {HEADER}: --log real.csv",
        )
    folder = folder_of(out)
    given = read_model(model)
    with telling("planning") as tell:
        answer = adapt(
            given,
            steps,
            sys.stdin.buffer if log == "-" else log,
            rewards=RewardEvidence[rewards.upper()],
            start_evidence=start_evidence,
            false_alarm=false_alarm,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            save=save,
            save_model=save_model,
            progress=tell,
        )
    finish(answer, context, folder, print_answer, as_json=as_json)
    return 1 if answer.outside_class else 0


def print_answer(answer: Adapt | AdaptedSimulator) -> None:
    """Print a record for people: the warning first, if there is one."""
    from simgap.records.adapt import Adapt

    if isinstance(answer, Adapt):
        _print_class(answer)
    else:
        print_simulator(answer)


def _print_class(answer: Adapt) -> None:
    """Print what a log says about a class.

    What presupposes a model of the class is left out if the log refutes them all.
    """
    ranked = sorted(
        answer.posterior, key=lambda each: (-(each.probability or 0.0), -each.p_value)
    )
    if answer.outside_class:
        _print_warning(answer)
        _print_refuted(answer, ranked)
    else:
        _print_models(answer, ranked)
        _print_changes(answer)
    print_notes(answer.notes)
    files = answer.files
    for what, path in (("policy", files.policy), ("class", files.model)):
        if path is not None:
            print_line(f"{what}  {path}")


def _print_warning(answer: Adapt) -> None:
    print_line(
        "WARNING: no model of the class explains the log (a false alarm has a chance "
        f"of at most {100.0 * answer.false_alarm:g} %)."
    )
    possible = answer.gap_bound_after is not None  # just not so often
    between = " with values in between," if answer.parameters and possible else ""
    print_line(
        f"The real world is outside what was randomized: randomize wider,{between} or "
        "another parameter."
    )
    if answer.misfit:
        print_line(f"Where the best model, {shown(answer.best)}, is off:")
    for each in answer.misfit[:5]:
        print_line(f"  {each.text}")


def _print_refuted(answer: Adapt, ranked: list[AdaptedModel]) -> None:
    """Print the p-values alone: they presuppose nothing."""
    print_table(
        _title(answer),
        ("model", "before", "p-value"),
        [
            (shown(each.name, 40), number(each.prior, 4), number(each.p_value, 3))
            for each in ranked[:MOST_MODELS]
        ],
        f"computed, not sampled; {P_VALUE}",
    )
    _print_more(ranked)
    if answer.gap_bound_after is None:
        print_line("no posterior and no new plan: the log excludes every model")
    else:
        print_line(
            "posterior, parameters and losses are left out: they presuppose that a "
            "model of the class is real; --json has them"
        )


def _print_models(answer: Adapt, ranked: list[AdaptedModel]) -> None:
    print_table(
        _title(answer),
        ("model", "before", "after", "p-value", "loss before", "loss after"),
        [
            (
                shown(each.name, 40),
                number(each.prior, 4),
                number(each.probability, 4),
                number(each.p_value, 3),
                gap_number(each.gap_before, NOISE, 4),
                gap_number(each.gap_after, NOISE, 4),
            )
            for each in ranked[:MOST_MODELS]
        ],
        "probabilities and p-values are computed, not sampled; losses are those of "
        f"the certified policies in {counted(answer.horizon, 'step')} if the model is "
        f"real; {P_VALUE}",
    )
    _print_more(ranked)


def _title(answer: Adapt) -> str:
    return (
        f"{counted(answer.transitions, 'transition')} of "
        f"{counted(answer.episodes, 'episode')} in {shown(answer.provenance.model)}"
    )


def _print_more(ranked: list[AdaptedModel]) -> None:
    more = len(ranked) - MOST_MODELS
    if more > 0:
        has = "has it" if more == 1 else "has them all"
        print_line(f"{counted(more, 'more model')}; --json {has}")


def _print_changes(answer: Adapt) -> None:
    for each in answer.parameters:
        after = each.after
        told = "-" if after is None else f"{number(after.mean, 4)} ± {after.sd:.2g}"
        print_line(
            f"{shown(each.name)}: {number(each.before.mean, 4)} ± "
            f"{each.before.sd:.2g} before, {told} after (mean ± deviation over the "
            "models)"
        )
    before = gap_bracket(answer.gap_bound_before, NOISE, 4)
    if answer.gap_bound_after is not None:
        after_gap = gap_bracket(answer.gap_bound_after, NOISE, 4)
        print_line(f"average loss: {before} before, {after_gap} after (certified)")
        print_line(
            "the plan of before would now lose "
            f"{gap_number(answer.gap_of_old_plan, NOISE, 4)} on average"
        )
    sure = 100.0 * (1.0 - answer.false_alarm)
    if answer.plausible_gap is not None:
        kept = sum(each.plausible for each in answer.posterior)
        print_line(
            f"{kept} of {len(answer.posterior)} models remain plausible at {sure:g} %; "
            "in the worst of them the new plan loses "
            f"{gap_number(answer.plausible_gap, NOISE, 4)}"
        )
    if answer.lemma_1 is not None:
        print_line(
            f"if {shown(answer.lemma_1.name)} is real, no optimal plan loses more than "
            f"{number(answer.lemma_1.bound, 4)} (Lemma 1)"
        )
