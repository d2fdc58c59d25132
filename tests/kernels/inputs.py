"""Random kernels in the stored form, read-only as solvers get them.

Dyadic ones hold multiples of 1/16. Sums and products of these with small whole numbers
are exact in doubles, in any order and fused or not, so that a kernel and its twin must
agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.walking.walk import Course, World, new_course, set_course
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray, read_only


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """One kernel in compressed rows s * A + a; entries may be explicit zeros."""

    indptr: OffsetArray
    indices: IndexArray
    values: FloatArray
    n_actions: int

    @property
    def n_states(self) -> int:
        return (self.indptr.size - 1) // self.n_actions

    @property
    def arrays(self) -> tuple[OffsetArray, IndexArray, FloatArray]:
        return self.indptr, self.indices, self.values


def pattern(
    rng: np.random.Generator,
    n_states: int,
    n_actions: int,
    lengths: Sequence[int],
    *,
    dyadic: bool = True,
) -> Pattern:
    """Row r has lengths[r % len(lengths)] entries (at most S), a fifth of them 0."""
    begins, after = [0], []
    for row in range(n_states * n_actions):
        length = min(n_states, lengths[row % len(lengths)])
        after.append(np.sort(rng.choice(n_states, length, replace=False)))
        begins.append(begins[-1] + length)
    size = begins[-1]
    values = rng.integers(0, 17, size) / 16.0 if dyadic else rng.random(size)
    values[rng.random(size) < 0.2] = 0.0
    return Pattern(
        read_only(begins, np.int64),
        read_only(np.concatenate(after), np.int32),
        read_only(values),
        n_actions,
    )


SHAPES = ((1, 1), (1, 3), (2, 2), (5, 1), (9, 3), (12, 2))
LENGTHS = ((1,), (2,), (1, 2, 3, 4, 5, 6, 7, 8, 9), (9, 7, 5), (8, 6), (3,))


def patterns(seed: int, *, dyadic: bool = True) -> list[Pattern]:
    """Every shape with every list of row lengths: odd, even, mixed, one to nine."""
    rng = np.random.default_rng(seed)
    return [
        pattern(rng, S, A, lengths, dyadic=dyadic)
        for S, A in SHAPES
        for lengths in LENGTHS
    ]


def whole(rng: np.random.Generator, *shape: int, low: int = -40) -> FloatArray:
    """Small whole numbers, read-only."""
    numbers: FloatArray = read_only(rng.integers(low, 41, shape))
    return numbers


def course_of(world: World, policy: AnyArray) -> Course:
    """Return the course of a stationary policy (S,)."""
    course = new_course(world)
    set_course(world, policy.astype(np.int32), course)
    return course
