"""Will it transfer? Assumptions, theorems and a verdict in plain words.

With -H the verdict rests on certified losses: of the best policy with memory, of the
best one found without, and of acting at random, which is what is at stake. Without -H
it says what holds in the long run. Exit status 1 if the verdict is "no" or "not
promised", or if a finding fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    Model,
    Out,
    Seed,
    TimeLimit,
    needed_horizon,
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
from simgap.text import (
    at_most,
    ends,
    gap_bracket,
    gap_number,
    number,
    percent,
    percent_between,
    shown,
)

if TYPE_CHECKING:
    from simgap.intervals import Certified
    from simgap.records.audit import Audit, InSimulator

FAILED = 1
SIGNS = {"ok": "ok", "info": "note", "warning": "warning", "fail": "FAIL"}
ACCEPTABLE = "it is above 0 and below 1, such as 0.1"


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    acceptable: Annotated[
        float,
        typer.Option(
            "--acceptable",
            metavar="R",
            help="The part of what random actions lose that may be lost.",
            parser=real("--acceptable", below=1.0, hint=ACCEPTABLE),
        ),
    ] = 0.1,
    time_limit: TimeLimit = 20.0,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Measure what takes long in large classes."),
    ] = False,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Say in plain words whether a policy trained on all models will transfer.

    With -H: from certified losses in so many steps, compared with what random actions
    lose. Without: in the long run.

    Example: simgap audit 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 40
    """
    from simgap.cli.app.models import read_model

    steps = None if horizon is None else needed_horizon(horizon)
    folder = folder_of(out)
    from simgap.answers.audit.audit import audit

    with telling("checking assumptions") as tell:
        answer = audit(
            read_model(model),
            steps,
            acceptable=acceptable,
            time_limit=time_limit,
            thorough=thorough,
            seed=seed,
            progress=tell,
        )
    finish(answer, context, folder, print_answer, as_json=as_json)
    if not answer.passed:
        raise typer.Exit(FAILED)


def print_answer(answer: Audit) -> None:
    """Print an audit: a table of checks, the verdict, what to do next."""
    steps = "in the long run" if answer.horizon is None else f"{answer.horizon} steps"
    print_table(
        f"audit of {shown(answer.provenance.model)}: {answer.models} models, "
        f"{answer.states} states, {answer.actions} actions, {steps}",
        ("check", "", "in plain words"),
        [(each.check, SIGNS[each.status], each.text) for each in answer.findings],
        "note: nothing to worry about; warning: read it; FAIL: the promise is void",
        texts=3,
    )
    print_line(f"Will it transfer?  {answer.verdict} ({_certainty(answer)})")
    print_line(f"  {answer.headline}")
    print_line(f"  {answer.reason}")
    for line in _numbers(answer):
        print_line(f"  {line}")
    print_notes(answer.notes)
    for command in answer.next:
        print_line(f"next: {command}")


def _certainty(answer: Audit) -> str:
    """Return the label of the verdict; with memory is two statements, and has two."""
    if answer.verdict != "with memory" or answer.memory is None:
        return answer.verdict_certainty
    return f"enough: {answer.memory.enough}; needed: {answer.memory.needed}"


def _numbers(answer: Audit) -> list[str]:
    if answer.at_stake is None or answer.average_gap is None:
        return []
    noise = 1e-9 * answer.at_stake
    lines = [f"at stake         {number(answer.at_stake, 5)} (lost by random actions)"]
    lines += _lost("with memory", answer.average_gap, answer.relative_gap, noise)
    lines += _lost(
        "without memory", answer.memoryless_gap, answer.relative_memoryless, noise
    )
    if answer.worst is not None:
        name, lost = shown(answer.worst.name), gap_number(answer.worst.gap, noise)
        lines.append(
            f"hit hardest      {name}: {lost} lost by the policy planned here "
            f"({percent(answer.worst.relative)} of what random actions lose in this "
            "model)"
        )
    lines += [_graded(each) for each in answer.in_simulator]
    if answer.memory is not None:
        lines += answer.memory.sentences()
    if answer.value_of_memory is not None:
        lines.append(f"memory is worth  {gap_bracket(answer.value_of_memory, noise)}")
    if answer.theorem is not None and not answer.theorem.vacuous:
        lines.append(
            f"{answer.theorem.name}: at most {at_most(answer.theorem.bound, 5)}"
        )
    return lines


def _lost(
    what: str, gap: Certified | None, part: Certified | None, noise: float
) -> list[str]:
    if gap is None:
        return []
    parts = "" if part is None else f" ({percent_between(part)})"
    return [f"{what:<16} {gap_bracket(gap, noise)}{parts} lost on average"]


def _graded(found: InSimulator) -> str:
    table = " to ".join(ends(*found.table.ends, 4))
    simulator = " to ".join(ends(*found.simulator.ends, 4))
    return (
        f"{found.policy}: earns {table} in the table, in the simulator "
        f"{number(found.simulator.estimate, 4)}, {simulator} (estimated; no answer of "
        f"its own in {percent(found.fallbacks)} of the steps)"
    )
