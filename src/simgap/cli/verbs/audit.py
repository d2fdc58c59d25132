"""`simgap audit`: will it transfer? Assumptions, theorems and a verdict in plain words.

With -H the verdict rests on certified losses: of the best policy with memory, of the
best one found without, and of acting at random, which is what is at stake. Without -H
it says what holds in the long run. Exit status 1 if the verdict is "no" or "not
promised", or if a finding fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model, Out, Seed
from simgap.cli.verbs.audit_answer import AuditAnswer, LadderAnswer

if TYPE_CHECKING:
    from simgap.answers import PlannedClass, PlanningSettings
    from simgap.mdp import LatentMDP

FAILED = 1
LADDER = 6.0  # time limits of one planning, for all grids of a ladder
SIGNS = {"ok": "ok", "info": "note", "warning": "warning", "fail": "FAIL"}


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    acceptable: Annotated[
        str,
        typer.Option(
            "--acceptable",
            metavar="R",
            help="The part of what is at stake that may be lost.",
        ),
    ] = "0.1",
    time_limit: Annotated[
        str,
        typer.Option("--time-limit", metavar="S", help="Seconds of planning."),
    ] = "20",
    refined: Annotated[
        bool,
        typer.Option(
            "--refine", help="Of a class on a grid: finer grids until the answer stays."
        ),
    ] = False,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Measure what takes long in large classes."),
    ] = False,
    seed: Seed = "0",
    out: Out = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Say in plain words whether a policy trained on all models will transfer.

    With -H: from certified losses in so many steps. Without: in the long run. What is
    at stake is what acting at random loses.

    Example: simgap audit 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 40
    """
    from simgap.answers import PlanningSettings
    from simgap.cli.app.compiling import compile_ahead
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import (
        max_bytes_of,
        needed_horizon,
        part_of,
        seconds_of,
        seed_of,
    )
    from simgap.cli.app.output import made_folder, print_json
    from simgap.records import write_record

    steps = None if horizon is None else needed_horizon(horizon)
    part = part_of(
        acceptable, "--acceptable", hint="it is above 0 and below 1, such as 0.1"
    )
    seconds = seconds_of(time_limit)
    assert part is not None
    assert seconds is not None
    settings = PlanningSettings(
        acceptable=part, time_limit=seconds, seed=seed_of(seed), thorough=thorough
    )
    folder = None if out is None else made_folder(out)
    compile_ahead("oracle")  # while assumptions are checked
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    answer = answered(
        latent,
        steps,
        settings=settings,
        command=str(context.obj),
        model=model,
        refined=refined,
    )
    if folder is not None:
        write_record(answer, folder / "audit.json")
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)
    if not answer.passed:
        raise typer.Exit(FAILED)


def answered(
    latent: LatentMDP,
    horizon: int | None,
    *,
    settings: PlanningSettings | None = None,
    planned: PlannedClass | None = None,
    command: str,
    model: str,
    refined: bool = False,
) -> AuditAnswer:
    """Return the record of an audit; standard error tells how far it is."""
    from simgap.answers import PlanningSettings, RefineSettings, audit, refine
    from simgap.cli.app.output import telling
    from simgap.cli.verbs.audit_answer import audit_answer
    from simgap.oracle import Outcome, Progress
    from simgap.text import number

    chosen = settings or PlanningSettings()
    with telling("checking assumptions") as tell:

        def follow(now: Progress) -> None:
            low, high = (number(end, 4) for end in (now.lower, now.upper))
            tell(f"{now.seconds:.0f} s: loss in [{low}, {high}], {now.doing}")

        ladder = None
        if refined:
            ladder = refine(
                latent,
                _steps_of(horizon),
                settings=RefineSettings(
                    time_limit=LADDER * chosen.time_limit, planning=chosen
                ),
                progress=follow,
                tell=tell,
            )
            latent, found = ladder.latent, ladder.audit
        else:
            found = audit(
                latent, horizon, settings=chosen, planned=planned, progress=follow
            )
    if found.transfer is not None and found.transfer.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt  # planning ends gracefully; who stops it wants out
    seed = chosen.seed
    return audit_answer(
        latent, found, command=command, model=model, seed=seed, ladder=ladder
    )


def _steps_of(horizon: int | None) -> int:
    from simgap.errors import InvalidArgument

    if horizon is None:
        raise InvalidArgument(
            "--refine compares losses in so many steps", hint="say how many: -H 100"
        )
    return horizon


def print_answer(answer: AuditAnswer) -> None:
    """Print an audit: a table of checks, the verdict, what to do next."""
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import shown

    steps = "in the long run" if answer.horizon is None else f"{answer.horizon} steps"
    print_table(
        f"audit of {shown(answer.provenance.model)}: {answer.models} models, "
        f"{answer.states} states, {answer.actions} actions, {steps}",
        ("check", "", "in plain words"),
        [(each.check, SIGNS[each.status], each.text) for each in answer.findings],
        "note: nothing to worry about; warning: read it; FAIL: the promise is void",
        texts=3,
    )
    if answer.ladder is not None:
        _print_ladder(answer.ladder)
    print_line(f"Will it transfer?  {answer.verdict} ({_certainty(answer)})")
    print_line(f"  {answer.headline}")
    print_line(f"  {answer.reason}")
    for line in _numbers(answer):
        print_line(f"  {line}")
    for command in answer.next:
        print_line(f"next: {command}")


def _certainty(answer: AuditAnswer) -> str:
    """Return the label of the verdict; with memory is two statements, and has two."""
    if answer.verdict != "with memory" or answer.memory is None:
        return answer.verdict_certainty
    return f"enough: {answer.memory.enough}; needed: {answer.memory.needed}"


def _print_ladder(ladder: LadderAnswer) -> None:
    from simgap.answers import percent
    from simgap.cli.app.output import print_table
    from simgap.text import bracket, gap_bracket, number

    print_table(
        "finer and finer grids: certified",
        ("nodes", "verdict of the table", "states", "noise", "loss", "at stake",
         "earned in the table", "earned in the simulator"),
        [
            (
                "x".join(str(cells) for cells in rung.cells),
                rung.verdict,
                str(rung.states),
                percent(rung.noise),
                "-" if rung.average_gap is None else gap_bracket(rung.average_gap, 0.0),
                number(rung.at_stake, 4),
                "-" if first is None else bracket(first.table, 4),
                "-" if first is None else bracket(first.simulator, 4),
            )
            for rung in ladder.rungs
            for first in (next(iter(rung.in_simulator), None),)
        ],
        f"{ladder.outcome}; still means within {percent(ladder.tolerance)} of what is "
        "at stake; what is earned in the simulator is estimated",
        texts=2,
    )  # fmt: skip


def _numbers(answer: AuditAnswer) -> list[str]:
    from simgap.answers import percent, percent_between
    from simgap.text import at_most, ends, gap_bracket, gap_number, number, shown

    if answer.at_stake is None or answer.average_gap is None:
        return []
    noise = 1e-9 * answer.at_stake
    lines = [f"at stake         {number(answer.at_stake, 5)} (lost by random actions)"]
    for what, gap, part in (
        ("with memory", answer.average_gap, answer.relative_gap),
        ("without memory", answer.memoryless_gap, answer.relative_memoryless),
    ):
        if gap is None:
            continue
        parts = ""
        if part is not None and part.lower is not None and part.upper is not None:
            parts = f" ({percent_between(part)})"
        lines.append(f"{what:<16} {gap_bracket(gap, noise)}{parts} lost on average")
    if answer.worst is not None:
        name, lost = shown(answer.worst.name), gap_number(answer.worst.gap, noise)
        lines.append(
            f"hit hardest      {name}: {lost} lost by the policy planned here "
            f"({percent(answer.worst.relative)} of what is at stake there)"
        )
    for each in answer.in_simulator:
        held = ends(each.table.lower, each.table.upper, 4)
        there = ends(each.simulator.lower, each.simulator.upper, 4)
        lines.append(
            f"{each.policy}: earns {' to '.join(held)} in the table, in "
            "the simulator "
            f"{number(each.simulator.estimate, 4)}, {' to '.join(there)} (estimated; "
            f"no answer of its own in {percent(each.fallbacks)} of the steps)"
        )
    if answer.memory is not None:
        lines += answer.memory.sentences()
    if answer.value_of_memory is not None:
        lines.append(f"memory is worth  {gap_bracket(answer.value_of_memory, noise)}")
    if answer.theorem is not None and not answer.theorem.vacuous:
        lines.append(
            f"{answer.theorem.name}: at most {at_most(answer.theorem.bound, 5)}"
        )
    return lines
