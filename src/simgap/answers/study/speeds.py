"""How fast this machine trains and measures: a few rounds and episodes, and a clock."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import final

from simgap.answers.planned_class import Tell
from simgap.answers.study.kinds import Kind, kinds_of
from simgap.answers.study.plan import Plan, Speeds
from simgap.answers.train.train import kept_record
from simgap.answers.transfer.transfer import transfer
from simgap.continuous import TrainingRecipe, train_all
from simgap.errors import InvalidFile
from simgap.ledger import forget_ledger
from simgap.records.files import read_record
from simgap.text import duration

ROUNDS = 6  # of a training: the first compiles, the others are timed
POINTS = 8
SECONDS = 2.0  # that the measured episodes should take, about
MOST_EPISODES = 64  # at a point
MORE_PROCESSES = 4.0  # seconds until processes that measure have begun
LEAST = 0.1  # of the mean time of a step: what a clock can tell

Make = Callable[[Kind, Path, int], TrainingRecipe]  # kind, folder, rounds
PLAN, WIDTH = "plan.json", "width"
RECORDS = ("study_run", "transfer", "blame_run", "identify_run", "width_run")
FILES = (PLAN, "returns.npz", *(f"{name}.json" for name in RECORDS))


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
    one = policies * POINTS * horizon  # steps: an episode of each policy at each point
    most = min(max(int(SECONDS / (one * training_step)), 4), MOST_EPISODES)
    calls = []
    for episodes in (1, 2, most):  # each call goes on where the one before ended
        begin = monotonic()
        transfer(
            run, design=f"sobol:{POINTS}", beyond=1.0, episodes=episodes, checked=False
        )
        calls.append(monotonic() - begin)
    return calls[0], step_seconds(calls, (one, one, (most - 2) * one))


def step_seconds(calls: Sequence[float], steps: Sequence[int]) -> float:
    """Return what a step takes if three calls made so many steps in so many seconds.

    The first one also compiles. What the second and the third have in common, reading
    policies for example, is paid once and no part of a step.
    """
    _, before, last = calls
    more = steps[2] - steps[1]
    return max((last - before) / more, LEAST * last / steps[2])


@final
class Clock:
    """Says which part of a study runs, and how long all of it will still take."""

    def __init__(self, plan: Plan, tell: Tell) -> None:
        self._seconds, self._tell = plan.seconds, tell
        self._done = self._kept = 0.0  # shares of the present part, if that is known

    def passed(self, share: float, *, fresh: bool) -> None:
        """Hear that a share of the present part is done, just now or before."""
        if fresh:
            self._done += share
        else:
            self._kept += share

    def part(self, name: str) -> Tell:
        """Return what a part calls with its news."""
        names = list(self._seconds)
        later = sum(self._seconds[each] for each in names[names.index(name) + 1 :])
        begin, self._done, self._kept = 0.0, 0.0, 0.0

        def tell(word: str) -> None:
            nonlocal begin
            if not begin:
                begin = monotonic()
            spent, share = monotonic() - begin, 1.0 - self._kept
            left = max(0.0, share * self._seconds[name] - spent)
            if self._done:  # things may go slower than planned
                left = max(left, spent * (share - self._done) / self._done)
            told = duration(later + left)
            self._tell(f"{name}: {word}; about {told} left of the study")

        return tell


def forget(folder: Path) -> None:
    """Remove everything that a study made in a folder, and nothing else."""
    for name in (*_trainings(folder), WIDTH):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    forget_ledger(folder)


def _trainings(folder: Path) -> set[str]:
    """Return the names of the trainings that were planned."""
    known = {each.name for each in kinds_of(2, window=True)}
    path = folder / PLAN
    if not path.exists():
        return set()
    try:
        return known & {each.name for each in read_record(path, Plan).kinds}
    except InvalidFile:  # somebody changed it
        return known
