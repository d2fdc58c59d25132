"""Which parameter is worth knowing to a trained policy: shares by telling it.

One policy was trained with any of the parameters hidden from it (`simgap train
--masked`). It is measured with every set S of them told, in the same episodes: v(S).
What all of them are worth, v(all) - v(none), is shared out by Shapley's rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from simgap.answers.blame.told_shares import (
    Names,
    PartlyToldRecipe,
    ToldSets,
    ToldShares,
    all_sets,
    partly_told,
    sets_of_orders,
    told_shares,
)
from simgap.answers.planned_class import Tell
from simgap.answers.transfer.opened_run import (
    OpenedRun,
    chosen_training,
    given_run,
    opened_run,
    training_notes,
)
from simgap.answers.transfer.trained_run import TrainedRun
from simgap.continuous import (
    Cube,
    DrawnPoints,
    Entry,
    Measured,
    compared,
    features_of,
    measured,
)
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.ledger import key_of
from simgap.records.blame_run import BlamedRun, MaskingCheck
from simgap.records.kept import write_record
from simgap.records.note import Note
from simgap.records.provenance import provenance
from simgap.records.train import Train
from simgap.text import between, listed, number, shown
from simgap.user_files import made_folder

RECORD = "blame_run.json"
MOST_EXACT = 6  # parameters: 64 sets
MOST_PARAMETERS = 60  # sets are bits of a number

Case = Literal["everything", "nothing"]


def blame_run(
    run: Any,
    *,
    policy: str | None = None,
    design: str = "sobol:64",
    episodes: int = 16,
    orders: int = 24,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    out: Path | str | None = None,
    progress: Tell = lambda _: None,
) -> BlamedRun:
    """Return what knowing each parameter is worth to a policy of a run of trainings.

    The `run` is a folder, or a list of what `simgap.train` returned. The `policy` is
    a training with hidden parameters; the first one that remembers unless it is named.
    It runs `episodes` with every set of parameters told at each point of the `design`,
    all with the same starts and noise. For more than six parameters so many random
    `orders` are told one after the other, every second one the reverse of the one
    before. Other policies of the run that are told everything, or nothing, are measured
    beside it. With a folder, its own or `out`, the answer is kept there, and what was
    stopped goes on.
    """
    if episodes < 1 or orders < 4:
        raise InvalidArgument(
            f"{episodes} episodes and {orders} orders", hint="give 1 and 4, or more"
        )
    found = given_run(run)
    training = chosen_training(
        [each for each in found.trainings if each.masked],
        policy,
        what="training with hidden parameters",
        hint="simgap train SIMULATOR --randomize ... --masked --out RUN",
        code="no-masked-policy",
    )
    beside = _beside(found, training)
    names = [training.name, *(each.name for each, _ in beside)]
    opened = opened_run(found, names, design=design, seed=seed)
    players = features_of(opened.ready.work.randomization).names
    told = _sets(len(players), orders, seed)
    folder = found.folder if out is None else Path(out)
    done = _measured(
        opened,
        told.names(players),
        trainings=len(training.policies),
        episodes=episodes,
        folder=folder,
        workers=workers,
        progress=progress,
    )
    progress("computing intervals")
    sets = _only(done.cube, len(told.sets))
    shares = told_shares(sets, told, players, opened.where.drawn, confidence=confidence)
    checks = tuple(
        _check(
            done.cube,
            case,
            sets.policies[-1 if each.informed else 0],
            each.name,
            opened.where.drawn,
            confidence,
        )
        for each, case in beside
    )
    exact = len(told.shares) == 1
    answer = BlamedRun(
        simulator=opened.ready.work.simulator.name,
        randomize=training.told,
        horizon=training.horizon,
        design=design,
        policy=training.name,
        trainings=len(training.policies),
        episodes=done.cube.episodes,
        steps=done.steps,
        method="exact" if exact else "sampled",
        orders=None if exact else 2 * len(told.shares),
        total=shares.total.value,
        evaluation=shares.total.evaluation,
        seed_spread=shares.total.spread,
        parameters=shares.parameters,
        leader=shares.leader,
        sets=shares.sets,
        checks=checks,
        headline=headline(shares),
        notes=(
            *_notes(shares, checks),
            *training_notes([training]),
            *opened.where.notes,
            *done.notes,
        ),
        certainty={
            "total": "estimated",
            "parameters": "estimated",
            "sets": "estimated",
            "checks": "estimated",
            "episodes": "exact",
            "steps": "exact",
        },
        provenance=provenance(
            command="", model=opened.ready.work.simulator.name, latent=None, seed=seed
        ),
    )
    if folder is not None:
        write_record(answer, folder / RECORD)
    return answer


def headline(shares: ToldShares) -> str:
    """Return one sentence: what to measure first, if anything."""
    total = shares.total.value
    if total.lower <= 0.0:
        return (
            "Nothing to blame: whether the policy is told the parameters makes no "
            "difference that could be measured."
            if total.upper >= 0.0
            else "Nothing to blame: the policy gets less if it is told the parameters."
        )
    first, *others = shares.parameters
    worth = f"the {_about(total)} that knowing everything is worth"
    if not others:
        return f"Measure {shown(first.name)}: nothing else is hidden; it has {worth}."
    if shares.leader is not None and first.part is not None:
        low, high = (f"{100.0 * end:.0f}" for end in first.part.ends)
        part = f"{100.0 * first.part.estimate:.0f} % ({low} to {high})"
        return f"Measure {shown(shares.leader)} first: it has {part} of {worth}."
    rivals = [each for each in others if each.share.upper >= first.share.lower]
    names = " or ".join(shown(each.name) for each in (first, *rivals[:3]))
    return (
        f"Measure {names} first: their shares of {worth} overlap; more training seeds "
        "or episodes tell them apart."
    )


def _about(found: Estimate) -> str:
    return f"{number(found.estimate, 3)} ({between(found)})"


def _sets(players: int, orders: int, seed: int) -> ToldSets:
    if players <= MOST_EXACT:
        return all_sets(players)
    if players > MOST_PARAMETERS:
        raise InvalidArgument(
            f"{players} parameters are told",
            hint=f"at most {MOST_PARAMETERS}: randomize fewer, or several as one",
        )
    return sets_of_orders(players, orders // 2, seed)


def _beside(run: TrainedRun, training: Train) -> list[tuple[Train, Case]]:
    """Return trainings of its memory and draws, always told everything, or nothing.

    Those for one value of the parameters are for another question.
    """
    same = [
        each
        for each in run.trainings
        if (each.memory, each.draws) == (training.memory, training.draws)
        and not (each.masked or each.specialist)
    ]
    cases: dict[bool, Case] = {True: "everything", False: "nothing"}
    return [(each, cases[each.informed]) for each in same]


def _measured(
    opened: OpenedRun,
    told: tuple[Names, ...],
    *,
    trainings: int,
    episodes: int,
    folder: Path | None,
    workers: int,
    progress: Tell,
) -> Measured:
    """Return returns with every set told, then those of the other policies."""
    ready = opened.ready
    mine, others = ready.entries[:trainings], ready.entries[trainings:]
    policies, recipe = ready.work.policies, ready.recipe
    what = {**ready.identity, "told": str(told)}
    if folder is not None:
        made_folder(folder)
    return measured(
        replace(
            ready.work,
            policies=(*partly_told(policies[:trainings], told), *policies[trainings:]),
        ),
        [
            *(
                Entry(_set_name(names), each.training_seed)
                for names in told
                for each in mine
            ),
            *others,
        ],
        episodes=episodes,
        folder=folder,
        identity=what,
        part=f"blame-{key_of(what)}",  # other trainings or points are another one
        recipe=None if recipe is None else PartlyToldRecipe(recipe, trainings, told),
        workers=workers,
        progress=progress,
    )


def _set_name(names: Names) -> str:
    return f"told {', '.join(names) or 'nothing'}"


def _only(cube: Cube, count: int) -> Cube:
    """Return the first policies of a cube."""
    names = cube.policies[:count]
    return replace(
        cube,
        policies=names,
        returns=cube.returns[:count],
        success=None,
        failures=tuple(each for each in cube.failures if each.policy in names),
    )


def _check(
    cube: Cube,
    case: Case,
    policy: str,
    against: str,
    points: DrawnPoints,
    confidence: float,
) -> MaskingCheck:
    found = compared(cube, policy, against, points, confidence=confidence)
    return MaskingCheck(told=case, against=against, difference=found.mean.value)


def _notes(shares: ToldShares, checks: Sequence[MaskingCheck]) -> Iterator[Note]:
    total = shares.total.value
    if total.lower <= 0.0 <= total.upper:
        yield Note(
            "nothing-to-blame",
            f"what knowing everything is worth is {_about(total)}: it may be 0, and "
            "shares of it mean little; more training seeds or episodes may tell",
        )
    elif total.upper < 0.0:
        yield Note(
            "information-hurts",
            "the policy gets less if it is told the parameters: it was not trained "
            "well enough to use them",
        )
    below = [each.name for each in shares.parameters if each.share.upper < 0.0]
    if below:
        yield Note(
            "negative-share",
            f"below 0: {listed(below)}; to be told it makes the policy worse, which no "
            "policy would have to put up with: it was not trained long enough",
        )
    for each in checks:
        if each.difference.upper < 0.0:
            yield Note(
                "masking-costs",
                f"told {each.told}, the policy gets less than {each.against}, which "
                f"was trained for that alone: {_about(each.difference)}; train it "
                "longer before you trust the shares",
            )
