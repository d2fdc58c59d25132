"""What a trainer of one's own is given: a simulator, and what its episodes draw.

    def train_fn(simulator, sampler, memory):
        theta = sampler.draw(sampler.seed, range(16))  # parameters of 16 episodes
        worlds = simulator.instantiate(sampler.values(theta))
        ...
        return policy

Those who train in environments of Gymnasium need none of that: `as_env(simulator,
sampler)` is one whose episodes have the parameters that the sampler draws for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.extras import needed
from simgap.continuous.interfaces import Simulator
from simgap.continuous.randomization.binding import BoundRandomization, bind
from simgap.continuous.randomization.reading import Randomized
from simgap.continuous.simulators.naming import open_simulator
from simgap.continuous.training.draws import episode_seeds
from simgap.continuous.training.waves import for_worlds
from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True, eq=False)
class OwnSampler:
    """What the episodes of one training draw."""

    randomization: BoundRandomization
    seed: int  # of the training
    horizon: int  # steps of an episode

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the columns of theta are called, (P,)."""
        return self.randomization.names

    def draw(
        self, seed: int, episodes: Sequence[int] | range | OffsetArray
    ) -> FloatArray:
        """Return theta of episodes of these numbers, (n, P); the same at any time."""
        return self.randomization.sample(seed, episodes)

    def values(self, theta: FloatArray) -> Mapping[str, FloatArray]:
        """Return what `simulator.instantiate` takes, (n,) by parameter."""
        found, size = self.randomization.values(theta), len(theta)
        return for_worlds(self.randomization.parameters, found, size)

    def seeds(self, seed: int, episodes: Sequence[int] | OffsetArray) -> OffsetArray:
        """Return what `worlds.reset` takes, (n,): of training, never of grading."""
        return episode_seeds(seed, np.asarray(episodes))


TrainFunction = Callable[[Simulator, OwnSampler, str], Any]


def as_env(
    simulator: Any,
    sampler: OwnSampler | Randomized,
    *,
    number: int = 0,
    of: int = 1,
    horizon: int | None = None,
) -> Any:
    """Return a `gymnasium.Env` that draws the parameters of every episode.

    `simulator` and `sampler` are what a trainer of one's own is given, or what the
    command line takes: as_env("cartpole", "length=0.3..1.5"). Of several that run side
    by side each has its `number` from 0 on, so that no two play the same episodes.
    Episodes of `horizon` steps are cut, and told as truncated.
    """
    needed("gymnasium", what="an environment of Gymnasium")
    from simgap.continuous.simulators.drawn_env import DrawnEnv

    opened = open_simulator(simulator)
    if not isinstance(sampler, OwnSampler):
        limit = horizon or opened.horizon
        if limit is None:
            raise InvalidArgument(
                f"{opened.name} does not say how long an episode is",
                hint="give as_env(..., horizon=200)",
                code="no-horizon",
            )
        sampler = OwnSampler(bind(sampler, opened), 0, limit)
    if not 0 <= number < of:
        raise InvalidArgument(
            f"environment {number} of {of}", hint="count from 0: 0 to 7 of 8"
        )
    return DrawnEnv(opened, sampler, number, of)
