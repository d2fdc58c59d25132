"""Which parameters the episodes of a training get: the draws of every row.

An episode has a number, and what is drawn from nu for it is a function of the seed and
that number. A draw of one's own is a function of a generator, which the seed and the
number of the round make, and of what episodes returned so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Parameter
from simgap.continuous.measuring.jobs import told_to_informed
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.randomization.draws import LOW, SHIFT, philox, uniforms
from simgap.continuous.training.features import Features
from simgap.continuous.training.rows import Draws
from simgap.continuous.training.settings import Settings
from simgap.errors import InvalidArgument
from simgap.text import number, shown

SHORTEST = 8  # steps: a row has draws for episodes of that length on average, and the
# last one serves any more
STREAM = 2  # of Philox: seeds of training episodes; evaluation has 1


class Returns(NamedTuple):
    """What finished episodes returned, in the order in which they were drawn."""

    theta: FloatArray  # (n, P), as drawn
    returned: FloatArray  # (n,)

    def then(self, more: Returns) -> Returns:
        """Return these, and those that came after them."""
        theta = np.concatenate([self.theta, more.theta])
        return Returns(theta, np.concatenate([self.returned, more.returned]))


OwnDraws = Callable[[np.random.Generator, int, Returns], Any]
# how many episodes, what was returned so far -> theta, (episodes, P)


class Drawn(NamedTuple):
    """The draws of all rows of a round: for the simulator, the networks, and a log."""

    draws: Draws
    values: Mapping[str, FloatArray]  # by parameter, (E, J): what is randomized
    seeds: OffsetArray  # (E, J), of the episodes
    theta: FloatArray  # (E, J, P), as drawn


def drawn(
    randomization: BoundRandomization,
    features: Features,
    settings: Settings,
    seed: int,
    round_number: int,
    parameters: tuple[Parameter, ...],
    own: OwnDraws | None = None,
    past: Returns | None = None,
) -> Drawn:
    """Return what the episodes of one round get, a pure function of its number.

    With draws of one's own it is a function of what was returned so far as well.
    """
    shape = (settings.rows, settings.horizon // SHORTEST + 1)
    every = shape[0] * shape[1]
    number = round_number * every + np.arange(every)
    if own is None or past is None:
        theta = randomization.sample(seed, number)
    else:
        random = np.random.default_rng([seed, round_number])
        theta = _checked(own(random, every, past), every, randomization)
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
    worlds: dict[str, Any] = {
        each.name: np.full(shape, each.nominal, np.float32) for each in parameters
    }
    worlds |= {name: each.astype(np.float32) for name, each in values.items()}
    seeds = episode_seeds(seed, number).reshape(shape)
    words = np.stack([np.zeros_like(seeds), seeds], axis=-1).astype(np.uint32)
    draws = Draws(worlds, told, shown, words)
    return Drawn(draws, values, seeds, theta.reshape(*shape, -1))


def episode_seeds(seed: int, number: OffsetArray) -> OffsetArray:
    """Return the seeds of training episodes, whole numbers below 2^32."""
    counter = number.astype(np.uint64)
    key = (np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF))
    zeros = np.zeros_like(counter)
    words = philox((counter & LOW, counter >> SHIFT, zeros, zeros + STREAM), key)
    return words[0].astype(np.int64)


def _checked(given: Any, episodes: int, nu: BoundRandomization) -> FloatArray:
    """Return theta of somebody's draws, or say what is wrong with it."""
    shape, names = (episodes, len(nu.names)), ", ".join(nu.names[:8])
    try:
        theta = np.array(given, np.float64)
    except (TypeError, ValueError):
        theta = np.empty(0)
    if theta.shape != shape:
        size = f"an array of shape {theta.shape}" if theta.size else shown(str(given))
        raise InvalidArgument(
            f"draws returned {size} for {episodes} episodes",
            hint=f"return theta as an array of shape {shape}: {names}",
            code="wrong-draws",
        )
    inside = np.isfinite(theta).all(axis=1) & nu.inside(theta)
    if not inside.all():
        first = int(inside.argmin())
        row = ", ".join(
            f"{name}={number(value)}"
            for name, value in zip(nu.names, theta[first].tolist(), strict=True)
        )
        raise InvalidArgument(
            f"draws returned {row} for episode {first} of a round, which is not in "
            f"{nu.to_string()}",
            hint="draw where the randomization does; nu.quantile(u) is theta for "
            "points u of the unit cube",
            code="wrong-draws",
        )
    return theta


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
