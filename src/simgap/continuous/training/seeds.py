"""Trainings by name: what another process can build again, and processes that do.

On a CPU one thread trains one seed: more threads gain little and change the last
digits. So every seed has a process of its own with one thread, as many at a time as
there are cores. On an accelerator all seeds of a training are one program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.extras import needed
from simgap.continuous.randomization.binding import bind
from simgap.continuous.randomization.spec import Randomization
from simgap.continuous.simulators.naming import open_simulator
from simgap.continuous.simulators.noise import with_noise
from simgap.continuous.training.checkpoint import Checkpoints
from simgap.continuous.training.draws import OwnDraws
from simgap.continuous.training.export import write_trained
from simgap.continuous.training.features import features_of
from simgap.continuous.training.learner import Learner, learner_of
from simgap.continuous.training.settings import Settings
from simgap.continuous.training.trainer import (
    News,
    Outcome,
    Training,
    trained,
)
from simgap.continuous.training.update import Learnt
from simgap.errors import SimgapError
from simgap.processes import Crew, Tell

ONE_THREAD: Mapping[str, str] = {
    "NPROC": "1",  # what XLA asks for the number of its threads
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
ENDING = ".onnx"

TellNews = Callable[[str, News], None]  # of which training


class TrainingStopped(SimgapError):
    """A process that trains died."""


@final
@dataclass(frozen=True, slots=True)
class TrainingRecipe:
    """A training without its seed."""

    simulator: Any  # a text, or an object for this process alone
    randomize: Randomization  # what is drawn while it is trained
    told: Randomization  # what critic and informed policy take as their range
    settings: Settings
    steps: int
    folder: Path
    identity: tuple[tuple[str, str], ...]  # what is trained, part by part
    noise: str = ""
    draws: OwnDraws | None = None  # of one's own, instead of those of `randomize`
    warm: Path | None = None  # a folder whose checkpoint of the same seed is the start
    other_machine: bool = False
    before: tuple[TrainingRecipe, ...] = ()  # done first, one by one, by this learner

    @property
    def every(self) -> tuple[TrainingRecipe, ...]:
        """Return all that is trained for it, in order."""
        return (*self.before, self)

    @property
    def by_name(self) -> bool:
        """Return whether another process can build it."""
        return isinstance(self.simulator, str)

    def file(self, seed: int) -> Path:
        """Return where the policy of a seed is written."""
        return self.folder / f"seed-{seed}{ENDING}"


@final
@dataclass(frozen=True, slots=True, eq=False)
class TrainedSeed:
    """A training that is finished."""

    recipe: TrainingRecipe
    seed: int
    file: Path
    outcome: Outcome
    returns: FloatArray  # (rounds,)
    final_return: float
    steps: int
    seconds: float  # of the processor
    fresh_steps: int  # that the seconds paid for


Job = tuple[TrainingRecipe, int]  # a training and its seed


def train_all(
    jobs: Sequence[Job], *, workers: int, tell: Callable[[str], None]
) -> Iterator[TrainedSeed]:
    """Return trainings in the order in which they finish.

    Those that are given by name have processes of their own; others, and those with
    draws of one's own, run here, one after the other, with as many threads as JAX has
    here. On an accelerator all seeds of a recipe run here, side by side.
    """
    together = accelerated()
    here = [
        job
        for job in jobs
        if together or not job[0].by_name or job[0].draws is not None
    ]
    for recipe, mine in groupby(here, key=lambda job: job[0]):
        seeds = [seed for _, seed in mine]
        for some in [seeds] if together else [[each] for each in seeds]:
            yield from _train(
                recipe, some, lambda name, news: tell(f"{name}, {news.text}")
            )
    there = [job for job in jobs if job not in here]
    if there:
        yield from _in_processes(there, max(1, workers), tell)


def accelerated() -> bool:
    """Return whether JAX computes on something else than the processor."""
    jax = needed("jax", what="training")
    return str(jax.default_backend()) != "cpu"


def threads_here() -> int:
    """Return how many threads JAX uses in this process."""
    said = os.environ.get("NPROC", "")
    return int(said) if said.isdigit() else len(os.sched_getaffinity(0))


def _train(
    recipe: TrainingRecipe, seeds: Sequence[int], tell: TellNews
) -> list[TrainedSeed]:
    """Train seeds side by side in this process, and first what comes before."""
    learner = _learner(recipe)
    return [
        one for each in recipe.every for one in _kept_seeds(each, learner, seeds, tell)
    ]


def _kept_seeds(
    recipe: TrainingRecipe, learner: Learner, seeds: Sequence[int], tell: TellNews
) -> Iterator[TrainedSeed]:
    identity = {**dict(recipe.identity), "threads": str(threads_here())}
    trainings = [
        Training(
            learner,
            bind(recipe.randomize, learner.simulator),
            recipe.steps,
            seed,
            Checkpoints(
                recipe.folder,
                f"seed-{seed}",
                {**identity, "seed": str(seed)},
                recipe.other_machine,
            ),
            _warm(recipe, learner, seed),
            recipe.draws,
        )
        for seed in seeds
    ]
    for each in trained(trainings, lambda news: tell(recipe.folder.name, news)):
        path = recipe.file(each.seed)
        write_trained(path, learner, each.learnt)
        yield TrainedSeed(
            recipe,
            each.seed,
            path,
            each.outcome,
            each.returns,
            each.final_return,
            each.steps,
            each.seconds,
            each.fresh_steps,
        )


def _learner(recipe: TrainingRecipe) -> Learner:
    parts = recipe.simulator, recipe.noise, recipe.told, recipe.settings
    return _kept(*parts) if recipe.by_name else _new(*parts)


@lru_cache(maxsize=2)
def _kept(
    simulator: str, noise: str, told: Randomization, settings: Settings
) -> Learner:
    return _new(simulator, noise, told, settings)


def _new(
    simulator: Any, noise: str, told: Randomization, settings: Settings
) -> Learner:
    opened = open_simulator(simulator)
    opened = with_noise(opened, noise) if noise else opened
    return learner_of(opened, settings, features_of(bind(told, opened)))


def _warm(recipe: TrainingRecipe, learner: Learner, seed: int) -> Learnt | None:
    if recipe.warm is None:
        return None
    kept = Checkpoints(recipe.warm, f"seed-{seed}", None).latest(learner.start(seed))
    return None if kept is None else kept.learnt


def _in_processes(
    jobs: Sequence[Job], workers: int, tell: Callable[[str], None]
) -> Iterator[TrainedSeed]:
    board = _Board(jobs, tell)
    with Crew(
        _start,
        workers,
        environment=ONE_THREAD,
        news=lambda news: board.show(*news),
        patient=False,  # a training goes on from its checkpoint
    ) as crew:
        for ended in crew.run(jobs):
            if ended.failure is None:
                yield from ended.result
            elif ended.failure.code == "process-died":
                raise TrainingStopped(
                    "a process of the training died, for want of memory perhaps",
                    hint="run the command again: every seed goes on from its last "
                    "checkpoint",
                    code="process-died",
                ) from ended.failure
            else:
                raise ended.failure


def _start(tell: Tell) -> Callable[[Job], list[TrainedSeed]]:
    def tell_some(name: str, news: News) -> None:
        if news.rounds % 5 == 0 or news.rounds == news.of:
            tell((name, news))

    return lambda job: _train(job[0], [job[1]], tell_some)


class _Board:
    """The latest news of all trainings, in a line."""

    def __init__(self, jobs: Sequence[Job], tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._rounds: dict[tuple[str, int], tuple[int, int]] = {
            (each.folder.name, seed): (0, each.settings.updates(each.steps) + 1)
            for recipe, seed in jobs
            for each in recipe.every
        }

    def show(self, name: str, news: News) -> None:
        self._rounds[name, news.seed] = (news.rounds, news.of)
        done, every = np.array(list(self._rounds.values())).sum(axis=0)
        many = len(self._rounds)
        all_of = f" ({100 * done // every} % of {many} trainings)" if many > 1 else ""
        self._tell(f"{name}, {news.text}{all_of}")
