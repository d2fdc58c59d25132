"""The best average over all models, and what it must lose.

The oracle is the best policy for the average over all models that does not know which
one is real. The answer is a bracket of what it loses, certified, a policy that loses no
more than the upper end, and what simpler policies lose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import (
    GIGABYTES,
    PART,
    SECONDS,
    AsJson,
    Discount,
    Horizon,
    Model,
    Out,
    Seed,
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
from simgap.intervals import Certified
from simgap.text import (
    at_least,
    at_most,
    bracket,
    gap_bracket,
    gap_number,
    how_sure,
    number,
    part_of_value,
    shown,
)

if TYPE_CHECKING:
    from simgap.records.oracle import Oracle, OracleModel

SOLVERS = ("auto", "exact", "bounded", "grid")


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    discount: Discount = None,
    gap_tolerance: Annotated[
        float | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Stop when the bracket of the loss is this part of it; default 0.05.",
            parser=real("--gap-tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="R",
            help="The same as a part of the value.",
            parser=real("--tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning; default 60. All ends within half as long again.",
            parser=real("--time-limit", hint=SECONDS),
        ),
    ] = None,
    max_memory: Annotated[
        float | None,
        typer.Option(
            "--max-memory",
            metavar="GB",
            help="What the process may hold; before planning about 0.2 are in use. "
            "The first run compiles, which takes more.",
            parser=real("--max-memory", hint=GIGABYTES),
        ),
    ] = None,
    solver: Annotated[
        str,
        typer.Option(
            "--solver",
            metavar="|".join(SOLVERS),
            help="How to plan.",
            parser=one_of("solver", SOLVERS),
        ),
    ] = "auto",
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="FILE.simgap",
            help="Keep the certified policy there, and the one that tracks the "
            "posterior in FILE.belief.simgap.",
        ),
    ] = None,
    seed: Seed = 0,
    baselines: Annotated[
        bool, typer.Option(help="Compare with simpler policies.")
    ] = True,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Bracket what the best agent loses that does not know which model is real.

    Give a horizon -H or a --discount, one of the two. Every answer is a bracket that
    is valid even if a limit or Ctrl-C stops planning early.

    Example: simgap oracle 'riverswim?success=0.1:0.6:5&left_reward=0.4' -H 100
    """
    from simgap.answers.oracle import oracle
    from simgap.cli.app.models import read_model

    folder = folder_of(out)
    with telling("planning") as tell:
        answer = oracle(
            read_model(model),
            horizon,
            discount=discount,
            gap_tolerance=gap_tolerance,
            tolerance=tolerance,
            time_limit=time_limit,
            max_memory=max_memory,
            solver=solver,  # type: ignore[arg-type]  # one of SOLVERS
            save=save,
            baselines=baselines,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, print_answer, as_json=as_json)


def print_answer(answer: Oracle) -> None:
    """Print what is lost, where, what others lose, and how it was found."""
    print_line(f"Will it transfer? {shown(answer.provenance.model)}, {_length(answer)}")
    print_line("")
    for line in _verdict(answer):
        print_line(line)
    print_line("")
    _print_models(answer)
    if answer.baselines:
        _print_baselines(answer)
    for line in (*_worth(answer), *_how(answer)):
        print_line(line)
    print_notes(answer.notes)


def _length(answer: Oracle) -> str:
    """Return how long an episode is, in words."""
    if answer.horizon is None:
        return f"discount {answer.discount:g}"
    return f"{answer.horizon} steps" if answer.horizon != 1 else "one step"


def _verdict(answer: Oracle) -> list[str]:
    gap, estimate = answer.average_gap, answer.estimated_gap
    value, noise = Certified(answer.lower, answer.upper), answer.noise
    lines = [
        f"The best agent that does not know the real model loses "
        f"{gap_bracket(gap, noise)} on average{part_of_value(gap, answer.informed)} "
        "(certified).",
        f"It reaches {bracket(value)}; if it knew the model, it would reach "
        f"{number(answer.informed)} (certified).",
    ]
    if estimate is None:
        return lines
    middle = gap_number(estimate.estimate, noise, 4)
    low, high = at_least(estimate.lower), at_most(estimate.upper)
    return [
        *lines,
        f"The policy that tracks the posterior loses {middle}, between {low} and "
        f"{high} (estimated, {how_sure(estimate)}).",
    ]


def _print_models(answer: Oracle) -> None:
    """Print what the certified policy reaches and loses in each model."""
    noise = answer.noise
    print_table(
        "the certified policy, if this model is the real one",
        ("real model", "V*", "value", "gap", "of V*", "gap of any optimal policy"),
        [
            (
                shown(each.name),
                number(each.optimal),
                number(each.value),
                gap_number(each.gap, noise),
                _part(each, noise),
                gap_bracket(each.gap_interval, noise),
            )
            for each in answer.models
        ],
        "certified: values and gaps are those of this policy up to rounding",
    )


def _print_baselines(answer: Oracle) -> None:
    noise, best = answer.noise, gap_bracket(answer.average_gap, answer.noise)
    rows = [("oracle", "knows the models, not which is real", "certified", best, "-")]
    rows += [
        (
            shown(name),
            shown(each.about, 48),
            each.certainty,
            gap_bracket(each.average_gap, noise),
            gap_number(each.worst_gap, noise),
        )
        for name, each in answer.baselines.items()
        if each.worst_gap is not None
    ]
    print_table(
        "what simpler policies lose",
        ("policy", "what it is", "certainty", "average gap", "worst gap"),
        rows,
        "averages over the prior, the worst over models; estimates: 95 % intervals",
        texts=3,
    )
    for name, each in answer.baselines.items():
        if each.note:
            print_line(f"note: {shown(name)}: {each.note}")


def _part(model: OracleModel, noise: float) -> str:
    if model.relative_gap is None:
        return "-"
    return "0 %" if model.gap <= noise else f"{100 * model.relative_gap:.3g} %"


def _worth(answer: Oracle) -> list[str]:
    lines = [] if answer.memory is None else [*answer.memory.sentences()]
    return lines + [
        f"value of {what}: {gap_bracket(bounds, answer.noise)} (certified)"
        for what, bounds in (
            ("memory", answer.value_of_memory),
            ("randomization", answer.value_of_randomization),
        )
        if bounds is not None
    ]


def _how(answer: Oracle) -> list[str]:
    lines = [
        f"solver   {shown(answer.solver, 200)}",
        f"outcome  {answer.outcome}",
        f"time     {answer.seconds:.2f} s planning, {answer.compile_seconds:.1f} s "
        f"compiling, {answer.baseline_seconds:.1f} s for simpler policies; "
        f"{answer.nodes} nodes, {answer.largest_bytes / 1e6:.0f} MB",
    ]
    if answer.policy_file is not None:
        lines.append(f"policy   {answer.policy_file} (certified)")
        lines.append(f"policy   {answer.belief_policy_file} (tracks the posterior)")
    return lines
