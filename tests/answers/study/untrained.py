"""Trainings that learn nothing, in no time: what a study does around them is real.

    python -m tests.answers.study.untrained FOLDER MOMENT

runs a small study there, which may kill itself: `never`; `trained:K`, when K trainings
are finished; `told:WORD:K`, at the K-th news that begin with WORD, such as transfer.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from simgap.answers.study.plan import Speeds
from simgap.continuous import (
    Randomization,
    Settings,
    TrainedSeed,
    TrainingRecipe,
    bind,
    open_simulator,
)
from simgap.continuous.training.export import write_trained
from simgap.continuous.training.features import features_of
from simgap.continuous.training.learner import Learner, learner_of
from simgap.continuous.training.trainer import Outcome

SPEEDS = Speeds(1.0, {"gru": 5e-5, "none": 1e-5}, 2e-4, 0.1)  # few rounds and episodes
SLIDE = """
import numpy as np
from gymnasium.spaces import Box

HORIZON = 6
PARAMETERS = {"gain": (-5.0, 1.0, 5.0), "drag": (0.0, 0.1, 1.0)}


class Slides:
    observation_space = Box(-9.0, 9.0, (1,))
    action_space = Box(-1.0, 1.0, (1,))

    def __init__(self, thetas):
        self.theta = thetas

    def reset(self, seeds):
        self.x = np.array([np.random.default_rng(each).normal() for each in seeds])
        return self.x[:, None]

    def step(self, actions):
        push = self.theta["gain"] * actions[:, 0]
        self.x = np.clip((1.0 - self.theta["drag"]) * self.x + push, -9.0, 9.0)
        return self.x[:, None], -np.abs(self.x), np.zeros(len(self.x), bool)


def make_batch(thetas):
    return Slides(thetas)
"""
SPEC = "gain=-1.5..1.5 drag=0.0..0.4"


def untrained(
    jobs: Sequence[tuple[TrainingRecipe, int]], *, workers: int, tell: Any
) -> Iterator[TrainedSeed]:
    """Return policies as they begin, and returns that rise and settle."""
    every = [(one, seed) for recipe, seed in jobs for one in recipe.every]
    for recipe, seed in every:
        learner = _learner(recipe.simulator, recipe.told, recipe.settings)
        path = recipe.file(seed)
        write_trained(path, learner, learner.start(seed))
        rounds = recipe.settings.updates(recipe.steps) + 1
        returns = -np.exp(-np.arange(rounds) / 3.0)
        tell(f"{recipe.folder.name}, seed {seed}")
        yield TrainedSeed(
            recipe,
            seed,
            path,
            Outcome.CONVERGED,
            returns,
            float(returns[-1]),
            rounds * recipe.settings.batch,
            0.01,
            recipe.settings.batch,
        )


@lru_cache
def _learner(simulator: str, told: Randomization, settings: Settings) -> Learner:
    opened = open_simulator(simulator)
    return learner_of(opened, settings, features_of(bind(told, opened)))


def studied(
    folder: Path, *, train_all: Callable[..., Any] = untrained, **more: Any
) -> Any:
    """Return a small study of a simulator that is a file, nothing of it trained."""
    study: Any = import_module("simgap.answers.study.simulator")
    file = folder.parent / "slide.py"
    file.write_text(SLIDE)
    finished: Any = import_module("simgap.continuous.training.finished")
    before = finished.train_all, study.measured_speeds
    finished.train_all = train_all
    study.measured_speeds = more.pop("speeds", lambda *_, **__: SPEEDS)
    given = {"randomize": SPEC, "seeds": 1, "time_budget": 60.0, **more}
    try:
        return study.study_simulator(f"{file}:make_batch", out=folder, **given)
    finally:
        finished.train_all, study.measured_speeds = before


def _main() -> None:
    folder, moment = sys.argv[1:]
    what, *where = moment.split(":")

    def counted(jobs: Any, **more: Any) -> Iterator[TrainedSeed]:
        for at, each in enumerate(untrained(jobs, **more), start=1):
            yield each
            if what == "trained" and at == int(where[0]):
                os.kill(os.getpid(), signal.SIGKILL)

    left = int(where[1]) if what == "told" else 0

    def tell(word: str) -> None:
        nonlocal left
        if what == "told" and word.startswith(where[0]):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    studied(Path(folder), train_all=counted, progress=tell)


if __name__ == "__main__":
    _main()
