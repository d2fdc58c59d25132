"""Policies of narrower and wider ranges, each with the same number of steps behind it.

With K widths a stage is a K-th of the steps. The policy of the narrowest range begins;
after each stage it goes on twice: on its own range until its steps are used up, and for
one stage on the next wider range. So the policy of the k-th width has had a stage on
each narrower range, all have had the same number of steps, and together they cost
(K + 1) / 2 trainings instead of K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final

from simgap.answers.planned_class import Tell
from simgap.answers.train.asked import AskedTraining
from simgap.answers.train.own_trainer import trained_by
from simgap.answers.train.train import (
    STEPS,
    kept_record,
    learner_settings,
    training_recipe,
)
from simgap.answers.transfer.opened_run import opened_work
from simgap.answers.transfer.setup import Where, brought, points_of
from simgap.answers.transfer.trained_run import TrainedRun
from simgap.continuous import (
    REPEATS,
    BoundRandomization,
    Cube,
    Level,
    Measured,
    TrainFunction,
    TrainingRecipe,
    finished_trainings,
    graded,
    mean_over,
    measured,
    measured_return,
    repetition,
)
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.ledger import key_of
from simgap.records.note import Note
from simgap.records.train import Train
from simgap.records.transfer import TransferPolicy

BEFORE = "before"  # folder of what wider ranges begin with
RANDOM = "random"
MOST = 16  # times the episodes, where a part of the ranges has fewer points


class TrainedWidths(NamedTuple):
    """The policies of all widths, and what they cost."""

    trainings: tuple[Train, ...]  # one for each width
    steps: int | None = None  # of the simulator behind each policy; None: not counted
    total: int | None = None  # of all


def trained_widths(
    simulator: Any,
    asked: AskedTraining,
    widths: Sequence[float],
    parts: Sequence[BoundRandomization],
    *,
    seeds: range,
    steps: int | None,
    noise: str,
    settings: dict[str, Any] | None,
    allow_different_machine: bool,
    workers: int,
    out: Path,
    progress: Tell,
) -> TrainedWidths:
    """Return policies of simgap's own trainer, a file each in the folder `out`."""

    def recipe(
        at: int, name: str, folder: Path, steps: int, warm: TrainingRecipe | None
    ) -> TrainingRecipe:
        return training_recipe(
            simulator,
            randomize=asked.told.spec,
            drawn=parts[at].spec,
            memory=asked.memory.text,
            steps=steps,
            horizon=asked.horizon,
            noise=noise,
            name=f"{name}-{widths[at]:g}",
            settings=settings,
            checked=False,  # it was
            allow_different_machine=allow_different_machine,
            warm=None if warm is None else warm.folder,
            out=folder,
        )

    count, last = len(widths), len(widths) - 1
    budget = STEPS if steps is None else steps
    chosen = learner_settings(
        asked.memory, asked.horizon, settings, informed=False, masked=False
    )
    stage = budget // (count * chosen.batch) * chosen.batch
    if stage < 2 * chosen.batch:
        raise InvalidArgument(
            f"{budget} steps for policies of {count} widths",
            hint=f"a round takes {chosen.batch}; give at least "
            f"{2 * count * chosen.batch}, or fewer widths",
            code="too-few-steps",
        )
    trunk: TrainingRecipe | None = None
    every, final = [], []
    for at in range(count):
        if at < last:
            trunk = recipe(at, BEFORE, out / BEFORE, stage, trunk)
            every.append(trunk)
        own = stage * max(1, last - at)
        final.append(recipe(at, "width", out, own, trunk))
        every.append(final[-1])
    job = replace(every[-1], before=tuple(every[:-1]))
    done = finished_trainings(
        [(job, seed) for seed in seeds], workers=workers, tell=progress
    )
    trainings = tuple(
        kept_record(each, [one for one in done if one.recipe.folder == each.folder])
        for each in final
    )
    return TrainedWidths(
        trainings,
        count * stage,
        len(seeds) * sum(each.steps for each in every),
    )


def widths_by_function(
    train_fn: TrainFunction,
    simulator: Any,
    asked: AskedTraining,
    widths: Sequence[float],
    parts: Sequence[BoundRandomization],
    *,
    seeds: range,
    noise: str,
    progress: Tell,
) -> TrainedWidths:
    """Return policies of a trainer of one's own, each from nothing."""
    return TrainedWidths(
        tuple(
            trained_by(
                train_fn,
                replace(asked, drawn=part.spec),
                simulator,
                name=f"width-{width:g}",
                noise=noise,
                seeds=seeds,
                progress=progress,
            )
            for width, part in zip(widths, parts, strict=True)
        )
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class GradedWidths:
    """What was measured, in the order of the widths."""

    cube: Cube  # over the user's ranges and beyond; random actions last
    where: Where
    policies: tuple[TransferPolicy, ...]
    random: TransferPolicy
    longer: TransferPolicy | None  # another training, over all of the ranges
    inside: tuple[Estimate, ...]  # means over their own ranges
    episodes: int
    steps: int
    notes: tuple[Note, ...]


def graded_widths(
    simulator: Any,
    asked: AskedTraining,
    trainings: Sequence[Train],
    parts: Sequence[BoundRandomization],
    *,
    longer: Train | None = None,
    noise: str,
    design: str,
    episodes: int,
    beyond: float,
    confidence: float,
    seed: int,
    workers: int,
    folder: Path | None,
    progress: Tell,
) -> GradedWidths:
    """Return what policies get at the same points, in the same episodes.

    Points of a policy's own ranges come from the same points of the unit cube.
    """
    more_trainings = () if longer is None else (longer,)
    run = TrainedRun(None, (*trainings, *more_trainings))
    known = {**run.policies, **run.references}
    paired = repetition(asked.simulator) == REPEATS

    def run_all(
        randomization: BoundRandomization,
        where: Where,
        names: Sequence[str],
        episodes: int = episodes,
    ) -> Measured:
        given = {each: known.get(each, each) for each in names}
        ready = opened_work(
            simulator,
            asked.simulator,
            randomization,
            brought(given),
            where,
            horizon=asked.horizon,
            noise=noise,
            seed=seed,
        )
        return measured(
            ready.work,
            ready.entries,
            episodes=episodes,
            paired=paired,
            folder=folder,
            identity=ready.identity,
            part=f"width-{key_of(ready.identity)}",  # one for each measurement
            recipe=ready.recipe,
            workers=workers,
            progress=progress,
        )

    names = [each.name for each in trainings]
    where = points_of(asked.told, design, beyond, seed)
    further = [each.name for each in more_trainings]
    whole = run_all(asked.told, where, [*names, *further, RANDOM])
    found = graded(whole.cube, where.drawn, confidence=confidence).policies
    policies, others = found[: len(names)], found[len(names) : -1]
    inside, every = [], [whole]
    for policy, name, part in zip(policies, names, parts, strict=True):
        if part is asked.told:
            inside.append(policy.mean)
            continue
        own = points_of(part, design, 1.0, seed)
        more = min(MOST, -(-int(where.points.inside.sum()) // len(own.points.theta)))
        every.append(run_all(part, own, [name], more * episodes))
        value = measured_return(every[-1].cube, name, own.drawn)
        inside.append(mean_over(value, every[-1].cube.inside, Level(confidence)))
    return GradedWidths(
        whole.cube,
        where,
        policies,
        found[-1],
        others[0] if others else None,
        tuple(inside),
        sum(each.cube.episodes for each in every),
        sum(each.steps for each in every),
        whole.notes,
    )
