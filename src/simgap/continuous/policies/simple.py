"""Two policies that need nothing: random actions, and none at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.continuous.interfaces import Batch, Choices, Space
from simgap.errors import InvalidArgument

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Clock(NamedTuple):
    """What a random policy remembers: whose episodes these are, and the step."""

    keys: AnyArray  # (B,) of 64 bits
    step: int

    @property
    def kept(self) -> bool:
        """Return that nothing of what was seen is remembered."""
        return False


@final
@dataclass(frozen=True, slots=True)
class RandomPolicy:
    """Every action as likely as any other: a function of the seed and the step."""

    space: Space
    name: str = "random"

    def __post_init__(self) -> None:
        space = self.space
        if (
            not isinstance(space, Choices)
            and not np.isfinite([space.low, space.high]).all()
        ):
            raise InvalidArgument(
                "no action is as likely as any other where actions have no ends",
                hint="bring a policy that draws from a distribution of your own",
                code="no-ends",
            )

    def reset(self, batch: Batch) -> Clock:
        """Return the streams of the episodes."""
        return Clock(scrambled(batch.seeds.astype(np.uint64)), 0)

    def act(self, observations: FloatArray, memory: Clock) -> tuple[FloatArray, Clock]:
        """Return random actions."""
        space, (keys, step) = self.space, memory
        counters = np.arange(space.size, dtype=np.uint64) + np.uint64(step * space.size)
        drawn = scrambled(keys[:, None] + GOLDEN * counters[None])
        chances = (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53
        after = Clock(keys, step + 1)
        if isinstance(space, Choices):
            return np.floor(chances[:, 0] * space.n), after
        return space.low + chances * (space.high - space.low), after


@final
@dataclass(frozen=True, slots=True)
class ZeroPolicy:
    """Zeros, or the nearest there is; the first action where they are numbered."""

    space: Space
    name: str = "zero"

    def reset(self, batch: Batch) -> None:
        """Return None: there is nothing to remember."""

    def act(self, observations: FloatArray, memory: None) -> tuple[FloatArray, None]:
        """Return zeros."""
        size = len(observations)
        if isinstance(self.space, Choices):
            return np.zeros(size), None
        rest = np.clip(0.0, self.space.low, self.space.high)
        return np.tile(rest, (size, 1)), None


def scrambled(words: AnyArray) -> AnyArray:
    """Return 64 bits that depend on all bits of each word (SplitMix64)."""
    with np.errstate(over="ignore"):
        z = words + GOLDEN
        z = (z ^ (z >> np.uint64(30))) * FIRST
        z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))
