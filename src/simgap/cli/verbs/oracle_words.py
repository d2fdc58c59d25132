"""What `simgap oracle` says to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simgap.cli.app.output import print_line, print_table
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
    from simgap.cli.verbs.baseline_answer import BaselineAnswer
    from simgap.cli.verbs.oracle import OracleAnswer
    from simgap.cli.verbs.oracle_answer import OracleModel


def print_oracle(answer: OracleAnswer) -> None:
    """Print an answer: what is lost, where, what others lose, how it was found."""
    title = shown(answer.provenance.model)
    print_line(f"Will it transfer? {title}, {length_of(answer)}")
    print_line("")
    for line in verdict(answer):
        print_line(line)
    print_line("")
    print_models(answer.models, noise_of(answer))
    if answer.baselines:
        print_baselines(answer.average_gap, answer.baselines, noise_of(answer))
    for line in _worth(answer):
        print_line(line)
    for line in _how(answer):
        print_line(line)


def length_of(answer: OracleAnswer) -> str:
    """Return how long an episode is, in words."""
    if answer.horizon is None:
        return f"discount {answer.discount:g}"
    return f"{answer.horizon} steps" if answer.horizon != 1 else "one step"


def verdict(answer: OracleAnswer) -> list[str]:
    """Return the answer in sentences."""
    gap, estimate = answer.average_gap, answer.estimated_gap
    value, noise = Certified(answer.lower, answer.upper), noise_of(answer)
    middle = gap_number(estimate.estimate, noise, 4)
    low, high = at_least(estimate.lower), at_most(estimate.upper)
    return [
        f"The best agent that does not know the real model loses "
        f"{gap_bracket(gap, noise)} on average{part_of_value(gap, answer.informed)} "
        "(certified).",
        f"It reaches {bracket(value)}; told the model, it would reach "
        f"{number(answer.informed)} (certified).",
        f"The policy that tracks the posterior loses {middle}, between {low} and "
        f"{high} (estimated, {how_sure(estimate.label, estimate.confidence)}).",
    ]


def noise_of(answer: OracleAnswer) -> float:
    """Return what floating point can misstate: smaller gaps are told as 0."""
    return 10.0 * answer.rounding


def print_models(models: tuple[OracleModel, ...], noise: float) -> None:
    """Print what the certified policy reaches and loses in each model."""
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
            for each in models
        ],
        "certified: values and gaps are those of this policy up to rounding",
    )


def print_baselines(
    gap: Certified, baselines: dict[str, BaselineAnswer], noise: float
) -> None:
    """Print what simpler policies lose."""
    rows = [
        (
            "oracle",
            "knows the models, not which is real",
            "certified",
            gap_bracket(gap, noise),
            "-",
        )
    ]
    rows += [
        (
            shown(name),
            shown(each.about, 48),
            each.certainty,
            gap_bracket(each.average_gap, noise),
            gap_number(each.worst_gap, noise),
        )
        for name, each in baselines.items()
        if each.worst_gap is not None
    ]
    print_table(
        "what simpler policies lose",
        ("policy", "what it is", "certainty", "average gap", "worst gap"),
        rows,
        "averages over the prior, the worst over models; estimates: 95 % intervals",
        texts=3,
    )
    for name, each in baselines.items():
        if each.note:
            print_line(f"note: {shown(name)}: {each.note}")


def _part(model: OracleModel, noise: float) -> str:
    if model.relative_gap is None:
        return "-"
    return "0 %" if model.gap <= noise else f"{100 * model.relative_gap:.3g} %"


def _worth(answer: OracleAnswer) -> list[str]:
    lines: list[str] = []
    if answer.memory is not None:
        lines += answer.memory.sentences()
    return lines + [
        f"value of {what}: {gap_bracket(bounds, noise_of(answer))} (certified)"
        for what, bounds in (
            ("memory", answer.value_of_memory),
            ("randomization", answer.value_of_randomization),
        )
        if bounds is not None
    ]


def _how(answer: OracleAnswer) -> list[str]:
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
