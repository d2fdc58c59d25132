"""How fast this machine trains and measures: a few rounds and episodes, and a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from simgap.answers.planned_class import Tell
from simgap.answers.study.costs import Speeds
from simgap.answers.study.kinds import Kind
from simgap.answers.train.train import kept_record
from simgap.answers.transfer.transfer import transfer
from simgap.continuous import TrainingRecipe, train_all

ROUNDS = 6  # of a training: the first compiles, the others are timed
POINTS = 8
SECONDS = 2.0  # that the measured episodes should take, about
MOST_EPISODES = 64  # at a point
MORE_PROCESSES = 4.0  # seconds until processes that measure have begun
LEAST = 0.1  # of the mean time of a step: what a clock can tell

Make = Callable[[Kind, Path, int], TrainingRecipe]  # kind, folder, rounds


def measured_speeds(
    kinds: Sequence[Kind], make: Make, *, workers: int, progress: Tell
) -> Speeds:
    """Return what a step of training and of measuring takes, and how long they begin.

    Every kind is trained for a few rounds, as many at once as there are `workers`,
    in a folder that is gone afterwards; the policies are measured for a moment.
    """
    with TemporaryDirectory(prefix="simgap-speed-") as place:
        recipes = [make(kind, Path(place), ROUNDS) for kind in kinds]
        begin = monotonic()
        progress("measuring how fast this machine is")
        jobs = [(recipe, 0) for recipe in recipes]
        done = {
            each.recipe: each
            for each in train_all(jobs, workers=workers, tell=lambda _: None)
        }
        spent = monotonic() - begin
        for recipe in recipes:
            kept_record(recipe, [done[recipe]])
        trained = [done[recipe] for recipe in recipes]
        waves = ceil(len(recipes) / workers)
        slowest = max(each.seconds for each in trained)
        step = {
            kind.memory: each.seconds / each.fresh_steps
            for kind, each in zip(kinds, trained, strict=True)
        }
        horizon = recipes[0].settings.horizon
        first, later = _measuring(place, horizon, len(kinds), max(step.values()))
    return Speeds(
        begin=max(0.0, spent - waves * slowest) / waves,
        step=step,
        measured_step=later,
        first_episode=first + (MORE_PROCESSES if workers > 1 else 0.0),
    )


def _measuring(
    run: str, horizon: int, policies: int, training_step: float
) -> tuple[float, float]:
    """Return the seconds until episodes begin, and those of a step."""
    one = policies * POINTS * horizon  # an episode of each policy at each point
    many = int(SECONDS / (one * training_step))
    few, many = 2, min(max(many, 4), MOST_EPISODES)
    seconds = []
    for episodes in (few, many):  # the second call goes on where the first one ended
        begin = monotonic()
        transfer(
            run, design=f"sobol:{POINTS}", beyond=1.0, episodes=episodes, checked=False
        )
        seconds.append(monotonic() - begin)
    mean = seconds[1] / (many * one)
    return seconds[0], max(
        (seconds[1] - seconds[0]) / ((many - few) * one), LEAST * mean
    )
