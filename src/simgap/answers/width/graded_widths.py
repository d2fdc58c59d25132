"""What the policies of all widths get: over the user's ranges, and over their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from simgap.answers.planned_class import Tell
from simgap.answers.train.asked import AskedTraining
from simgap.answers.transfer.opened_work import opened_work
from simgap.answers.transfer.setup import Where, brought, points_of
from simgap.answers.transfer.trained_run import TrainedRun
from simgap.continuous import (
    BoundRandomization,
    Cube,
    Level,
    Measured,
    graded,
    mean_over,
    measured,
    measured_return,
    repeats,
)
from simgap.intervals import Estimate
from simgap.ledger import key_of
from simgap.records import Train, TransferPolicy

RANDOM = "random"
MOST = 16  # times the episodes, where a part of the ranges has fewer points


@final
@dataclass(frozen=True, slots=True, eq=False)
class GradedWidths:
    """What was measured, in the order of the widths."""

    cube: Cube  # over the user's ranges and beyond; random actions last
    where: Where
    policies: tuple[TransferPolicy, ...]
    random: TransferPolicy
    inside: tuple[Estimate, ...]  # means over their own ranges
    episodes: int
    steps: int


def graded_widths(
    simulator: Any,
    asked: AskedTraining,
    trainings: Sequence[Train],
    parts: Sequence[BoundRandomization],
    *,
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
    run = TrainedRun(None, tuple(trainings))
    known = {**run.policies, **run.references}
    paired = repeats(asked.simulator)

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
    whole = run_all(asked.told, where, [*names, RANDOM])
    *policies, random = graded(whole.cube, where.drawn, confidence=confidence).policies
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
        tuple(policies),
        random,
        tuple(inside),
        sum(each.cube.episodes for each in every),
        sum(each.steps for each in every),
    )
