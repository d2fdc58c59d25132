"""Which parameters the episodes of a training get: the draws of every row.

An episode has a number, and what is drawn for it is a function of the seed and that
number. A sampler says where the numbers lead: `Nu` to the randomization itself,
adaptive ones to where it seems to pay, from the returns of earlier episodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Parameter
from simgap.continuous.measuring.jobs import told_to_informed
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.randomization.draws import LOW, SHIFT, philox, uniforms
from simgap.continuous.training.features import Features
from simgap.continuous.training.rows import Draws
from simgap.continuous.training.settings import Settings

SHORTEST = 8  # steps: a row has draws for episodes of that length on average
STREAM = 2  # of Philox: seeds of training episodes; evaluation has 1


class Sampler(Protocol):
    """What is drawn for episodes; a value, changed by what was met."""

    @property
    def share(self) -> float:
        """Return how much of nu is drawn: e to the entropy of the draws, 1: all."""
        ...

    def draw(self, seed: int, episodes: OffsetArray) -> FloatArray:
        """Return theta of episodes of these numbers, (n, P)."""
        ...

    def met(self, episodes: Met) -> Sampler:
        """Return the sampler that knows what some episodes returned."""
        ...

    def arrays(self) -> Mapping[str, AnyArray]:
        """Return what it has learnt so far, for a checkpoint."""
        ...

    def restored(self, arrays: Mapping[str, AnyArray]) -> Sampler:
        """Return the sampler with what a checkpoint kept."""
        ...


class Met(NamedTuple):
    """Finished episodes, in the order of their numbers."""

    seed: int  # that they were drawn with
    number: OffsetArray  # (n,)
    theta: FloatArray  # (n, P), as drawn
    returned: FloatArray  # (n,)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Nu:
    """The randomization itself, whatever happens."""

    randomization: BoundRandomization

    @property
    def share(self) -> float:
        """Return 1."""
        return 1.0

    def draw(self, seed: int, episodes: OffsetArray) -> FloatArray:
        """Return draws of nu."""
        return self.randomization.sample(seed, episodes)

    def met(self, episodes: Met) -> Nu:
        """Return itself."""
        return self

    def arrays(self) -> Mapping[str, AnyArray]:
        """Return nothing."""
        return {}

    def restored(self, arrays: Mapping[str, AnyArray]) -> Nu:
        """Return itself."""
        return self


class Drawn(NamedTuple):
    """The draws of all rows of a round: for the simulator, the networks, and a log."""

    seed: int
    draws: Draws
    values: Mapping[str, FloatArray]  # by parameter, (E, J): what is randomized
    seeds: OffsetArray  # (E, J), of the episodes
    theta: FloatArray  # (E, J, P), as drawn
    number: OffsetArray  # (E, J), of the episodes


def draws_in_a_row(settings: Settings) -> int:
    """Return how many episodes a row has parameters for; the last serves any more."""
    return settings.horizon // SHORTEST + 1


def drawn(
    sampler: Sampler,
    randomization: BoundRandomization,
    features: Features,
    settings: Settings,
    seed: int,
    round_number: int,
    parameters: tuple[Parameter, ...],
) -> Drawn:
    """Return what the episodes of one round get, a pure function of its number."""
    every = settings.rows * draws_in_a_row(settings)
    number = round_number * every + np.arange(every)
    theta = sampler.draw(seed, number)
    return drawn_as(theta, number, randomization, features, settings, seed, parameters)


def drawn_as(
    theta: FloatArray,
    number: OffsetArray,
    randomization: BoundRandomization,
    features: Features,
    settings: Settings,
    seed: int,
    parameters: tuple[Parameter, ...],
) -> Drawn:
    """Return what episodes of these numbers get if theta is drawn, row after row."""
    in_a_row = draws_in_a_row(settings)
    shape = (len(theta) // in_a_row, in_a_row)
    given = told_to_informed(randomization, theta)
    fixed = np.full(shape, np.nan)  # of what is not drawn, nothing is told
    known = {
        name: given[name].reshape(shape) if name in given else fixed
        for name in features.names
    }
    told = _numbers(features, known, shape)
    shown: AnyArray = np.zeros((*shape, 0), np.float32)
    if settings.informed and settings.masked and known:
        seen = _partly(known, seed, number, shape)
        shown = _numbers(Features(features.each, masked=True), seen, shape)
    elif settings.informed:
        shown = told
    values = {
        name: each.reshape(shape) for name, each in randomization.values(theta).items()
    }
    every: dict[str, Any] = {
        each.name: np.full(shape, each.nominal, np.float32) for each in parameters
    }
    every |= {name: each.astype(np.float32) for name, each in values.items()}
    seeds = episode_seeds(seed, number).reshape(shape)
    words = np.stack([np.zeros_like(seeds), seeds], axis=-1).astype(np.uint32)
    return Drawn(
        seed,
        Draws(every, told, shown, words),
        values,
        seeds,
        theta.reshape(*shape, -1),
        number.reshape(shape),
    )


def episode_seeds(seed: int, number: OffsetArray) -> OffsetArray:
    """Return the seeds of training episodes, whole numbers below 2^32."""
    counter = number.astype(np.uint64)
    key = (np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF))
    zeros = np.zeros_like(counter)
    words = philox((counter & LOW, counter >> SHIFT, zeros, zeros + STREAM), key)
    return words[0].astype(np.int64)


def _numbers(
    features: Features, known: Mapping[str, FloatArray], shape: tuple[int, ...]
) -> AnyArray:
    return features.numbers(known, shape).astype(np.float32)


def _partly(
    known: Mapping[str, FloatArray],
    seed: int,
    number: OffsetArray,
    shape: tuple[int, ...],
) -> dict[str, FloatArray]:
    """Return parameters of which some are hidden: any number of them, any of them.

    How many are told is drawn first, each number as likely as any other, then which:
    the weights of Shapley's shares.
    """
    count = len(known)
    order = np.stack(
        [uniforms(seed, number, f"hidden {name}") for name in known], axis=-1
    ).argsort(axis=-1)
    told = np.floor(uniforms(seed, number, "how many told") * (count + 1))
    hidden = np.empty_like(order, np.bool_)
    np.put_along_axis(hidden, order, np.arange(count) >= told[:, None], axis=-1)
    return {
        name: np.where(hidden[:, at].reshape(shape), np.nan, each)
        for at, (name, each) in enumerate(known.items())
    }
