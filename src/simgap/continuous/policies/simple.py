"""Two policies that need nothing: random actions, and none at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.interfaces import Batch, Choices, Space
from simgap.continuous.randomization.draws import LOW, SHIFT, chances
from simgap.errors import InvalidArgument

KEY = np.uint64(0x72616E64), np.uint64(0x6F6D)  # of the random actions


class Clock(NamedTuple):
    """What a random policy remembers: whose episodes these are, and the step."""

    seeds: OffsetArray  # (B,)
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
        """Return whose episodes they are."""
        return Clock(batch.seeds, 0)

    def act(self, observations: FloatArray, memory: Clock) -> tuple[FloatArray, Clock]:
        """Return random actions."""
        space, (seeds, step) = self.space, memory
        places = np.arange(space.size, dtype=np.uint64)
        whole, at = np.meshgrid(seeds.astype(np.uint64), places, indexing="ij")
        steps = np.full_like(whole, step)
        drawn = chances((whole & LOW, whole >> SHIFT, steps, at), KEY)
        after = Clock(seeds, step + 1)
        if isinstance(space, Choices):
            return np.floor(drawn[:, 0] * space.n), after
        return space.low + drawn * (space.high - space.low), after


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
