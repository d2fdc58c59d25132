"""`simgap adapt`: what real transitions say about the class, and what to do now.

The posterior over models, the hidden parameters before and after, a test whether any
model explains the log at all, and the oracle planned again for the posterior.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.options import AsJson, Horizon, Model, Out, Seed
from simgap.cli.verbs.adapt_words import print_answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simgap.answers import Adaptation, AdaptSettings, RewardEvidence
    from simgap.cli.verbs.adapt_answer import AdaptAnswer, SavedFiles
    from simgap.interop import TransitionLog
    from simgap.mdp import LatentMDP
    from simgap.oracle import OracleResult, Progress, Solver

__all__ = ["answered", "print_answer", "run"]

REWARDS = ("ignored", "exact")
PART = "it is a chance above 0 and below 1, such as 0.01"


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="FILE.csv",
            help="Columns state, action, next_state; episode and step, unless lines "
            "are in order; reward, if there is one. - is standard input.",
        ),
    ] = None,
    rewards: Annotated[
        str,
        typer.Option(
            "--rewards",
            metavar="|".join(REWARDS),
            help="exact: a model whose reward is another one is excluded.",
        ),
    ] = "ignored",
    start_evidence: Annotated[
        bool,
        typer.Option("--start-evidence", help="First states are evidence as well."),
    ] = False,
    false_alarm: Annotated[
        str,
        typer.Option(
            "--false-alarm",
            metavar="P",
            help="Chance, at most, of an alarm if the real world is in the class.",
        ),
    ] = "0.01",
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
        str | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of a loss is this part of it; default 0.05.",
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit", metavar="S", help="Seconds of each planning; default 60."
        ),
    ] = None,
    seed: Seed = "0",
    out: Out = None,
    max_bytes: Annotated[
        str | None,
        typer.Option(
            "--max-bytes",
            metavar="N",
            help="What a model file may unpack to (default: a quarter of free memory) "
            "and how large the log may be (default: 2 GiB).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Turn real transitions into a posterior, a test of the class and a new plan.

    Exit status 1 if no model explains the log: randomize other parameters, or wider.
    The test holds however the data were collected and whenever one looks.

    Example: simgap adapt 'riverswim?success=0.2:0.8:4' -H 50 --log real.csv
    """
    from simgap.answers import AdaptSettings
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of, needed_horizon, part_of, seed_of
    from simgap.cli.app.output import made_folder, print_json
    from simgap.records import write_record

    steps, number = needed_horizon(horizon), seed_of(seed)
    chance = part_of(false_alarm, "--false-alarm", hint=PART)
    assert chance is not None
    settings = AdaptSettings(
        rewards=_rewards_of(rewards),
        start_evidence=start_evidence,
        false_alarm=chance,
        solver=_solver(gap_tolerance, time_limit, number),
    )
    targets = _targets(save, save_model)
    folder = None if out is None else made_folder(out)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    transitions = _read_log(log, latent, max_bytes_of(max_bytes))
    answer = answered(
        latent,
        transitions,
        steps,
        settings,
        targets=targets,
        command=str(context.obj),
        model=model,
    )
    if folder is not None:
        write_record(answer, folder / "adapt.json")
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)
    return 1 if answer.outside_class else 0


def answered(
    latent: LatentMDP,
    log: TransitionLog,
    horizon: int,
    settings: AdaptSettings,
    *,
    targets: tuple[Path | None, Path | None] = (None, None),
    before: OracleResult | None = None,
    command: str,
    model: str,
) -> AdaptAnswer:
    """Return the record; policies and the new model go to `targets` if given."""
    from simgap.answers import adapt
    from simgap.cli.app.output import telling
    from simgap.cli.verbs.adapt_answer import adapt_answer

    with telling("planning") as tell:
        found = adapt(
            latent,
            log,
            horizon,
            settings=settings,
            before=before,
            progress=_follower(tell),
        )
    return adapt_answer(
        found,
        log,
        command=command,
        model=model,
        seed=settings.solver.seed,
        files=_saved(found, *targets),
    )


def _rewards_of(text: str) -> RewardEvidence:
    from difflib import get_close_matches

    from simgap.answers import RewardEvidence
    from simgap.errors import InvalidArgument

    kinds = dict(zip(REWARDS, RewardEvidence, strict=True))
    if text not in kinds:
        near = get_close_matches(text.lower(), REWARDS, n=1)
        raise InvalidArgument(
            f"--rewards is {text[:40]!r}",
            hint=f"did you mean {near[0]}?" if near else "it is ignored or exact",
        )
    return kinds[text]


def _targets(save: str | None, model: str | None) -> tuple[Path | None, Path | None]:
    """Return where policy and class go, refusing now what would fail after planning."""
    from simgap.answers import belief_path, writable_file
    from simgap.errors import InvalidFile

    if model is not None and not model.endswith(".simgap"):
        raise InvalidFile(
            f"models are written as .simgap, not to {model[:200]!r}",
            hint="write for instance --save-model adapted.simgap",
        )
    policy = None if save is None else writable_file(save)
    target = (
        None
        if model is None
        else writable_file(
            model, what="models", option="--save-model", example="sharper"
        )
    )
    if policy is not None and target in (policy, belief_path(policy)):
        raise InvalidFile(
            f"--save and --save-model both name {target}",
            hint="give the class another name",
        )
    return policy, target


def _solver(gap_tolerance: str | None, time_limit: str | None, seed: int) -> Solver:
    from simgap.answers import PLANNING
    from simgap.cli.app.options import part_of, seconds_of
    from simgap.oracle import AutoOracle

    part = part_of(
        gap_tolerance,
        "--gap-tolerance",
        hint="it is above 0 and below 1, such as 0.05",
    )
    seconds = seconds_of(time_limit)
    return AutoOracle(
        gap_tolerance=0.05 if part is None else part,
        time_limit=60.0 if seconds is None else seconds,
        negligible=PLANNING.negligible if part is None else 0.0,
        seed=seed,
    )


def _read_log(
    source: str | None, latent: LatentMDP, max_bytes: int | None
) -> TransitionLog:
    import sys

    from simgap.cli.app.output import working
    from simgap.errors import InvalidArgument
    from simgap.interop import HEADER, read_transition_log

    if not source:
        raise InvalidArgument(
            "no log is given",
            hint=f"name a CSV file with the header {HEADER}: --log real.csv",
        )
    with working(f"reading {source[:80]}"):
        return read_transition_log(
            sys.stdin.buffer if source == "-" else source,
            latent.simulators,
            max_bytes=max_bytes,
        )


def _follower(tell: Callable[[str], None]) -> Callable[[str, Progress], None]:
    from simgap.text import number

    def follow(which: str, now: Progress) -> None:
        low, high = (number(end, 4) for end in (now.lower, now.upper))
        tell(f"planning {which}, {now.seconds:.0f} s: loss in [{low}, {high}]")

    return follow


def _saved(found: Adaptation, policy: Path | None, model: Path | None) -> SavedFiles:
    from simgap.answers import belief_path
    from simgap.cli.verbs.adapt_answer import SavedFiles
    from simgap.interop import save_model, save_policy

    changed = found.adapted
    if found.after is None or changed is None:
        return SavedFiles()
    if policy is not None:
        save_policy(found.after.policy, policy)
        save_policy(found.after.belief_policy, belief_path(policy))
    if model is not None:
        save_model(changed, model)
    return SavedFiles(
        policy=None if policy is None else str(policy),
        belief_policy=None if policy is None else str(belief_path(policy)),
        model=None if model is None else str(model),
    )
