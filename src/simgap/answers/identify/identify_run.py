"""When a trained policy finds out: losses step by step, and what its memory holds.

Every policy runs one episode in each of many worlds that are drawn from nu, the same
for all. A world is a draw with its start and noise, so that worlds are independent, and
so are trainings: the two sources of error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simgap.answers.blame.blame_run import RECORD as BLAMED
from simgap.answers.planned_class import Tell
from simgap.answers.transfer.opened_run import (
    chosen_training,
    given_run,
    opened_run,
    training_notes,
)
from simgap.answers.transfer.trained_run import TrainedRun
from simgap.arrays import FloatArray
from simgap.continuous import (
    Band,
    StepLosses,
    Work,
    explained,
    features_of,
    followed,
    memory_reader,
    step_losses,
    told_to_informed,
)
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.records.blame_run import BlamedRun
from simgap.records.identify_run import IdentifiedRun, ReadParameter, StepLoss
from simgap.records.kept import read_unchanged, write_record
from simgap.records.note import Note
from simgap.records.provenance import provenance
from simgap.records.train import Train
from simgap.text import listed, shown
from simgap.user_files import made_folder

RECORD = "identify_run.json"
LEAST_WORLDS = 80
PROBED = 12  # steps at which the memory is read
SUSPECT = 0.1  # R^2 that worlds in a wrong order do not have


def identify_run(
    run: Any,
    *,
    policy: str | None = None,
    reference: str | None = None,
    worlds: int = 512,
    confidence: float = 0.95,
    seed: int = 0,
    out: Path | str | None = None,
    progress: Tell = lambda _: None,
) -> IdentifiedRun:
    """Return when a policy with memory stops losing, and what it has found out by then.

    The `run` is a folder of trainings, or a list of what `simgap.train` returned. The
    `policy` is one with memory, and the `reference` one that is told the parameters:
    the first ones that fit unless they are named. Each runs one episode in so many
    `worlds`, drawn from nu, the same for both. With a folder, its own or `out`, the
    answer is kept there.
    """
    if worlds < LEAST_WORLDS:
        raise InvalidArgument(
            f"{worlds} worlds",
            hint=f"half of them are fitted to: {LEAST_WORLDS} or more",
        )
    found = given_run(run)
    mine, other = _trainings(found, policy, reference)
    both = [each for each in (mine, other) if each is not None]
    names = [each.name for each in both]
    opened = opened_run(found, names, design=f"random:{worlds}", seed=seed)
    ready = opened.ready
    readable = memory_reader(ready.work.policies[0]) is not None
    probed = _probed(mine.horizon) if readable else ()
    rewards: dict[str, list[FloatArray]] = {name: [] for name in names}
    memories: list[tuple[FloatArray, ...]] = []
    steps = 0
    for at, entry in enumerate(ready.entries):
        progress(f"following {entry.name}, training {entry.training_seed + 1}")
        each = followed(ready.work, at, probed if entry.name == mine.name else ())
        rewards[entry.name].append(each.rewards)
        memories += [each.memory] if each.memory else []
        steps += each.steps
    progress("computing intervals")
    lost = None
    if other is not None:
        one, two = (np.stack(rewards[each.name]) for each in (other, mine))
        lost = step_losses(one, two, confidence=confidence)
    parameters = _parameters(ready.work, memories, _blame(found), confidence, seed)
    answer = IdentifiedRun(
        simulator=opened.ready.work.simulator.name,
        randomize=mine.told,
        horizon=mine.horizon,
        policy=mine.name,
        reference=None if other is None else other.name,
        trainings=(len(mine.policies), 0 if other is None else len(other.policies)),
        worlds=worlds,
        steps=steps,
        losses=() if lost is None else _losses(lost, confidence),
        total=None if lost is None else lost.total.value,
        evaluation=None if lost is None else lost.total.evaluation,
        settled=None if lost is None else lost.value.settled,
        settled_here=None if lost is None else lost.evaluation.settled,
        probed=probed,
        parameters=parameters,
        headline=_headline(mine, other, lost, parameters),
        notes=(*_notes(lost, parameters), *training_notes(both)),
        certainty={
            "losses": "estimated",
            "total": "estimated",
            "settled": "estimated",
            "parameters": "estimated",
            "worlds": "exact",
            "steps": "exact",
        },
        provenance=provenance(
            command="", model=opened.ready.work.simulator.name, latent=None, seed=seed
        ),
    )
    folder = found.folder if out is None else Path(out)
    if folder is not None:
        made_folder(folder)
        write_record(answer, folder / RECORD)
    return answer


def _trainings(
    run: TrainedRun, policy: str | None, reference: str | None
) -> tuple[Train, Train | None]:
    mine = chosen_training(
        [
            each
            for each in run.trainings
            if each.memory != "none" and not each.informed and not each.specialist
        ],
        policy,
        what="training with memory that is not told the parameters",
        hint="simgap train SIMULATOR --randomize ... --memory gru --out RUN",
        code="no-memory-policy",
    )
    told = [each for each in run.trainings if each.informed]
    told.sort(
        key=lambda each: (
            each.masked,
            each.memory != mine.memory,
            each.draws != mine.draws,
        )
    )
    if reference is None and not told:
        return mine, None
    return mine, chosen_training(
        told if reference is not None else told[:1],
        reference,
        what="training that is told the parameters",
        hint="simgap train SIMULATOR --randomize ... --informed --out RUN",
        code="no-informed-policy",
    )


def _probed(horizon: int) -> tuple[int, ...]:
    """Return steps at which memory is read: close to each other at first."""
    steps = np.geomspace(1, horizon, PROBED).round().astype(int)
    return tuple(dict.fromkeys(steps.tolist()))


def _blame(run: TrainedRun) -> dict[str, Estimate]:
    """Return the share of each parameter, if somebody asked for blame."""
    if run.folder is None or not (path := run.folder / BLAMED).exists():
        return {}
    blamed = read_unchanged(path, BlamedRun)
    return {each.name: each.share for each in blamed.parameters}


def _parameters(
    work: Work,
    memories: Sequence[tuple[FloatArray, ...]],
    blame: dict[str, Estimate],
    confidence: float,
    seed: int,
) -> tuple[ReadParameter, ...]:
    """Return how well each parameter can be read at each step, by all trainings."""
    if not memories:
        return ()
    theta = work.points.theta
    told = told_to_informed(work.randomization, theta)
    wrong = np.random.default_rng(seed).permutation(len(theta))
    by_step = list(zip(*memories, strict=True))

    def at_each_step(numbers: FloatArray) -> tuple[Estimate | None, ...]:
        return tuple(
            explained(each, numbers, confidence=confidence) for each in by_step
        )

    return tuple(
        ReadParameter(
            name=feature.name,
            explained=at_each_step(numbers := feature.numbers(told[feature.name])),
            shuffled=at_each_step(numbers[wrong]),
            blame=blame.get(feature.name),
        )
        for feature in features_of(work.randomization).each
    )


def _losses(lost: StepLosses, confidence: float) -> tuple[StepLoss, ...]:
    def at(band: Band, step: int) -> Estimate:
        return Estimate(
            float(band.mean[step]),
            float(band.lower[step]),
            float(band.upper[step]),
            confidence,
            "all steps at once, multivariate t",
        )

    return tuple(
        StepLoss(step=k + 1, loss=at(lost.value, k), evaluation=at(lost.evaluation, k))
        for k in range(lost.value.mean.size)
    )


def _headline(
    mine: Train,
    other: Train | None,
    lost: StepLosses | None,
    parameters: Sequence[ReadParameter],
) -> str:
    """Return when nothing is lost any more, and what can be read by then."""
    said = []
    if lost is not None and other is not None:
        said.append(_when(lost, shown(mine.name), shown(other.name)))
    known = [(each.name, each.explained[-1]) for each in parameters]
    read = [
        f"{shown(name)} {found.estimate:.2f}"
        for name, found in known
        if found is not None
    ]
    if read:
        parts = listed(read)
        said.append(f"At the end its memory explains parts of the variance: {parts}.")
    return " ".join(said)


def _when(lost: StepLosses, mine: str, other: str) -> str:
    settled, here = lost.value.settled, lost.evaluation.settled
    steps = lost.value.mean.size
    if settled is None:
        return f"{mine} loses against {other} until the last of {steps} steps."
    when = "at any step" if settled == 1 else f"from step {settled} of {steps} on"
    said = f"{mine} loses nothing against {other} {when}, as far as is known."
    if here == settled:
        return said
    until = "the last step" if here is None else f"step {here - 1}"
    return f"{said} These policies do until {until}: more training seeds may tell."


def _notes(
    lost: StepLosses | None, parameters: Sequence[ReadParameter]
) -> Iterator[Note]:
    if lost is None:
        yield Note(
            "no-informed-policy",
            "what is lost at each step is not known: no policy of the folder is told "
            "the parameters; train one with --informed",
        )
    else:
        if lost.value.settled == 1:
            yield Note(
                "nothing-lost",
                "the band contains 0 at every step: either nothing is lost, or there "
                "are too few trainings and worlds to tell",
            )
        if (lost.value.upper < 0.0).any():
            yield Note(
                "memory-beats-informed",
                "at some steps the policy with memory gets more than the one that is "
                "told the parameters: that one was not trained as well",
            )
    if not parameters:
        yield Note(
            "memory-not-read",
            "the policy does not show what it remembers: an ONNX file does, or an "
            "object with a method remembered(memory) that returns an array",
        )
    suspect = [
        each.name
        for each in parameters
        if any(one is not None and one.lower > SUSPECT for one in each.shuffled)
    ]
    if suspect:
        yield Note(
            "shuffled-is-read",
            f"{listed(suspect)} can be read although worlds are in a wrong order: do "
            "not trust what is said of the memory",
        )
