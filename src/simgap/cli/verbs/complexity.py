"""How hard the class is: separation, eluder dimension, covers, smoothness."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    Model,
    needed_horizon,
)
from simgap.cli.app.output import finish, print_notes, print_table, working
from simgap.intervals import Certified
from simgap.text import bracket, gap_bracket, number, shown

if TYPE_CHECKING:
    from simgap.records.complexity import ClassSeparation, Complexity


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    as_json: AsJson = False,
) -> None:
    """Measure how hard a class is: diameter, separation, and with -H three more.

    These are the eluder dimension and covering number at scale 1/H, and smoothness.
    Bounds are certified: equal ends mean that a number is exact.

    Example: simgap complexity 'riverswim?states=6&success=0.2:0.5:4' -H 100
    """
    from simgap.answers.complexity.complexity import complexity
    from simgap.cli.app.models import read_model

    steps = None if horizon is None else needed_horizon(horizon)
    given = read_model(model)
    with working("measuring the class"):
        answer = complexity(given, steps)
    finish(answer, context, None, print_answer, as_json=as_json)


def print_answer(answer: Complexity) -> None:
    """Print the measures, then smoothness for each distance."""
    apart, eluder, cover = answer.separation, answer.eluder, answer.covering
    rows = [
        ("diameter", "steps of the slowest trip", bracket(answer.diameter)),
        (
            "separation",
            _where(apart),
            "-" if apart.pair is None else number(apart.value),
        ),
    ]
    if eluder is not None:
        ends = Certified(eluder.lower, eluder.upper)
        rows.append(("eluder dimension", f"at scale 1/{answer.horizon}", bracket(ends)))
    if cover is not None:
        ends = Certified(cover.lower, cover.upper)
        what = f"balls of radius 1/{answer.horizon}; functions: {cover.functions}"
        rows.append(("covering number", what, bracket(ends)))
    print_table(
        f"complexity of {shown(answer.provenance.model)}",
        ("measure", "what it is", "value"),
        rows,
        "certified bounds, or one number that is exact",
        texts=2,
    )
    if answer.smoothness is not None:
        print_table(
            f"smoothness over the class in {answer.horizon} steps",
            ("distance", "V*", "any policy, at most", "its gap, at most"),
            [
                (
                    each.metric,
                    gap_bracket(each.optimal, _noise(each.policy_at_most)),
                    number(each.policy_at_most),
                    number(each.gap_at_most),
                )
                for each in answer.smoothness.metrics
            ],
            "Lipschitz constants; V* for this class, the others for every policy",
        )
    print_notes(answer.notes)


def _where(apart: ClassSeparation) -> str:
    if apart.pair_names is None:
        return "one model: nothing to tell apart"
    first, second = (shown(name, 30) for name in apart.pair_names)
    if apart.state_name is None or apart.action_name is None:
        return f"{first} and {second} have equal kernels"
    state, action = shown(apart.state_name, 20), shown(apart.action_name, 20)
    return f"{first} and {second}, by state {state}, action {action}"


def _noise(constant: float) -> float:
    """Return what is rounding beside a constant; nothing is beside infinity."""
    return 0.0 if isinf(constant) else 1e-9 * constant
