"""Automatic domain randomization: ranges that grow while the policy copes with them.

Akkaya et al., *Solving Rubik's cube with a robot hand* (2019). Every parameter has a
current range, at first a narrow one about its nominal value. A share of the episodes
puts one parameter at one end of its range. When so many returns of an end are known, it
moves: outwards if their mean is good, inwards if it is bad; then they are forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray, read_only
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.randomization.draws import uniforms
from simgap.continuous.training.beforehand import Needed, Reference, Sides, sides_of
from simgap.continuous.training.samplers import Met

OUTWARDS = np.array([-1.0, 1.0])  # of the lower and of the upper end


@final
@dataclass(frozen=True, slots=True)
class Adr:
    """The numbers of automatic domain randomization."""

    at_an_end: float = 0.4  # share of the episodes
    queue: int = 64  # returns of an end before it moves
    step: float = 0.05  # of the whole range: how far it moves
    good: float = 0.8  # share of the way to the reference: above, the range widens
    bad: float = 0.5  # below, it narrows
    half: float = 0.05  # half the width at the start, of the whole range

    @property
    def needs(self) -> Needed:
        """Return what is trained before."""
        return Needed.NOMINAL

    def start(
        self, randomization: BoundRandomization, reference: Reference
    ) -> AdrSampler:
        """Return the sampler of a training."""
        sides = sides_of(randomization)
        shape = (sides.places.size, 2)
        return AdrSampler(
            self,
            sides,
            reference,
            _narrowest(self, sides),
            np.zeros(shape),
            np.zeros(shape, np.int64),
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class AdrSampler:
    """Current ranges on the A sides, and what is known of their ends."""

    settings: Adr
    sides: Sides
    reference: Reference
    ends: FloatArray  # (A, 2), from 0 to 1
    total: FloatArray  # (A, 2), sum of the returns at an end since it moved
    count: OffsetArray  # (A, 2), how many they are

    def __post_init__(self) -> None:
        for name, kind in (("ends", float), ("total", float), ("count", np.int64)):
            object.__setattr__(self, name, read_only(getattr(self, name), kind))

    @property
    def share(self) -> float:
        """Return the share of nu inside the current ranges."""
        return float(np.prod(self.ends[:, 1] - self.ends[:, 0]))

    def draw(self, seed: int, episodes: OffsetArray) -> FloatArray:
        """Return theta inside the current ranges, or with one parameter at an end."""
        cube = self.sides.randomization.uniforms(seed, episodes)
        low, high = self.ends.T
        points = low + (high - low) * self.sides.points(cube)
        tried = self._tried(seed, episodes)
        at = np.flatnonzero(tried >= 0)
        points[at, tried[at] // 2] = self.ends.ravel()[tried[at]]
        return self.sides.theta(cube, points)

    def met(self, episodes: Met) -> AdrSampler:
        """Return the ranges after some episodes."""
        tried = self._tried(episodes.seed, episodes.number)
        at, shape = tried >= 0, self.count.shape
        returned = np.bincount(tried[at], episodes.returned[at], self.count.size)
        total = self.total + returned.reshape(shape)
        count = self.count + np.bincount(tried[at], None, total.size).reshape(shape)
        full = count >= self.settings.queue
        mean = total / np.maximum(count, 1)
        out = full & (mean > self.reference.threshold(self.settings.good))
        back = full & (mean < self.reference.threshold(self.settings.bad))
        step = self.settings.step * (out * 1.0 - back * 1.0)
        low, high = (self.ends + OUTWARDS * step).T
        least, most = _narrowest(self.settings, self.sides).T
        ends = np.stack([np.clip(low, 0.0, least), np.clip(high, most, 1.0)], axis=-1)
        return replace(
            self,
            ends=ends,
            total=np.where(full, 0.0, total),
            count=np.where(full, 0, count),
        )

    def arrays(self) -> Mapping[str, AnyArray]:
        """Return the ranges, and what is known of their ends."""
        return {"ends": self.ends, "total": self.total, "count": self.count}

    def restored(self, arrays: Mapping[str, AnyArray]) -> AdrSampler:
        """Return the sampler with the ranges that a checkpoint kept."""
        ends, total, count = (arrays[name] for name in ("ends", "total", "count"))
        return replace(self, ends=ends, total=total, count=count)

    def _tried(self, seed: int, episodes: OffsetArray) -> OffsetArray:
        """Return the end at which an episode is, 2 i + 1: the upper one of side i.

        -1 is none.
        """
        share, most = self.settings.at_an_end, self.count.size
        drawn = uniforms(seed, episodes, "the end that is tried")
        which = np.minimum(np.floor(drawn / share * most), most - 1)
        return np.where(drawn < share, which, -1).astype(np.int64)


def _narrowest(settings: Adr, sides: Sides) -> FloatArray:
    """Return the ranges at the start, which are never left inwards, (A, 2)."""
    found = sides.middle[:, None] + OUTWARDS * settings.half
    return np.clip(found, 0.0, 1.0)
