"""`simgap blame`: which hidden parameter causes the loss.

The loss of the best agent that does not know the real model is shared out over the
parameters that make the models, by Shapley's rule: what telling each one would save,
averaged over all orders in which they could be told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model, Out, Seed

if TYPE_CHECKING:
    from simgap.answers import BlameSettings
    from simgap.cli.verbs.blame_answer import BlameAnswer
    from simgap.mdp import LatentMDP
    from simgap.oracle import OracleResult

PART = "it is above 0 and below 1, such as 0.05"
RECORD = "blame.json"


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="P,Q",
            help="Parameters that count as one; may be repeated.",
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
        str,
        typer.Option(
            "--exact-up-to",
            metavar="N",
            help="Classes to plan; if there are more, orders are sampled.",
        ),
    ] = "400",
    permutations: Annotated[
        str,
        typer.Option(
            "--permutations",
            metavar="K",
            help="Orders of the parameters to sample, every second one a reverse.",
        ),
    ] = "100",
    gap_tolerance: Annotated[
        str,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of a loss is this part of it.",
        ),
    ] = "0.05",
    time_limit: Annotated[
        str,
        typer.Option("--time-limit", metavar="S", help="Seconds of planning in all."),
    ] = "120",
    seed: Seed = "0",
    out: Out = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Share out the loss over the hidden parameters: which one to measure first.

    Shares sum to the loss of the best agent that does not know the real model. A
    parameter without any effect has a share of exactly 0. Beside each share: the loss
    if only this parameter is hidden, what telling it is worth, and its share of what a
    plan for the nominal model alone loses.

    Example: simgap blame 'windy_grid?size=5&strength=0.2,0.8' -H 40
    """
    from simgap.answers import BlameSettings, Effort
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import (
        count_of,
        max_bytes_of,
        needed_horizon,
        part_of,
        seconds_of,
        seed_of,
    )
    from simgap.cli.app.output import made_folder, print_json
    from simgap.records import write_record

    steps, number = needed_horizon(horizon), seed_of(seed)
    most = count_of(exact_up_to, "--exact-up-to", least=0, most=10**6)
    orders = count_of(permutations, "--permutations", least=4, most=10**6)
    tolerance = part_of(gap_tolerance, "--gap-tolerance", hint=PART)
    seconds = seconds_of(time_limit)
    folder = None if out is None else made_folder(out)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    settings = BlameSettings(
        groups=groups_of(group or []),
        nominal=None if nominal is None else member_of(latent, nominal),
        exact_up_to=most,
        pairs=-(-orders // 2),
        effort=Effort(gap_tolerance=tolerance or 0.05, time_limit=seconds, seed=number),
    )
    answer = answered(latent, steps, settings, command=str(context.obj), model=model)
    if folder is not None:
        write_record(answer, folder / RECORD)
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def answered(
    latent: LatentMDP,
    horizon: int,
    settings: BlameSettings | None = None,
    *,
    oracle: OracleResult | None = None,
    command: str,
    model: str,
) -> BlameAnswer:
    """Return the record of `simgap blame`; standard error tells how far it is."""
    from simgap.answers import BlameSettings, blame
    from simgap.cli.app.output import telling
    from simgap.cli.verbs.blame_answer import blame_record
    from simgap.records import provenance

    settings = settings or BlameSettings()
    with telling("planning") as tell:
        found = blame(latent, horizon, settings, oracle=oracle, tell=tell)
    source = provenance(
        command=command,
        model=model,
        latent=latent,
        seed=settings.effort.seed,
    )
    return blame_record(latent, found, source)


def print_answer(answer: BlameAnswer) -> None:
    """Print an answer for people."""
    from simgap.cli.verbs.blame_answer import print_blame

    print_blame(answer)


def groups_of(texts: list[str]) -> tuple[tuple[str, ...], ...]:
    """Return the names in every --group."""
    from simgap.errors import InvalidArgument

    found = []
    for text in texts:
        names = tuple(name.strip() for name in text.split(","))
        if not all(names):
            raise InvalidArgument(
                f"--group {text[:80]!r} has an empty name",
                hint="write names with commas between them: --group mass,length",
            )
        found.append(names)
    return tuple(found)


def member_of(latent: LatentMDP, text: str) -> int:
    """Return the model with a name, or with a number counted from 0."""
    from difflib import get_close_matches

    from simgap.errors import InvalidArgument

    names = latent.simulators.model_names
    if text in names:
        return names.index(text)
    if text.isdecimal() and len(text) < 10 and int(text) < len(names):
        return int(text)
    near = get_close_matches(text, names, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? or give" if near else "give"
    raise InvalidArgument(
        f"there is no model {text[:80]!r}",
        hint=f"{hint} a number from 0 to {len(names) - 1}; simgap info lists the names",
    )
