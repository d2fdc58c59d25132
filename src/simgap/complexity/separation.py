"""How far apart the models of a class are, and at which (s, a) (Assumption 2).

The distance of two models is that of their kernels at the pair (s, a) where it is
greatest:

    distance(i, j) = max over (s, a) of || P_i(s, a) - P_j(s, a) ||_1 , in [0, 2]
    delta(U)       = min over i < j of distance(i, j)

Errata E5: "any two models" must mean two different ones, or delta would always be 0. A
class of one model has delta 2. Models with equal kernels are 0 apart, and no data can
distinguish them: agents see states, not rewards, so that only kernels count here.

How many samples a comparison needs depends more precisely on the Bhattacharyya
coefficient BC = sum sqrt(p q), which may be least at another pair (s, a). The squared
Hellinger distance 1 - BC is kept beside it, because it has all its digits when BC is
close to 1.

Pairs (s, a) whose distances agree up to a factor 1 + 1e-12 are ties, and the lowest
index wins: s first, then a. Distances are computed in floats, with a relative error of
this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.solving.model_pairs import compare_models
from simgap.arrays import (
    BoolArray,
    FloatArray,
    IndexArray,
    OffsetArray,
    owned,
    read_only,
)
from simgap.errors import InvalidArgument
from simgap.mdp import SimulatorClass

TIE = 1e-12
MOST_MODELS = 4096  # five (M, M) arrays of results: half a gigabyte


@final
@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two models, the (state, action) where they differ most, and by how much."""

    first: int
    second: int
    state: int | None  # None: their kernels are equal everywhere
    action: int | None
    value: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """Distances between all models of a class, with the rows s * A + a behind them.

    Matrices are symmetric; a row of -1 means that the two kernels are equal.
    """

    n_actions: int
    distance: FloatArray  # (M, M), greatest L1 distance over (s, a)
    distance_row: IndexArray  # (M, M)
    average_distance: FloatArray  # (M, M), mean L1 distance over (s, a)
    hellinger: FloatArray  # (M, M), greatest 1 - BC over (s, a)
    hellinger_row: IndexArray  # (M, M)
    affinity: FloatArray  # (M, M), least Bhattacharyya coefficient BC, at hellinger_row

    def __post_init__(self) -> None:
        for name in ("distance", "average_distance", "hellinger", "affinity"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        for name in ("distance_row", "hellinger_row"):
            object.__setattr__(self, name, read_only(getattr(self, name), np.int32))

    @property
    def n_models(self) -> int:
        return int(self.distance.shape[0])

    @property
    def value(self) -> float:
        """delta(U): the distance of the two nearest models, 2 for a class of one."""
        nearest = self.nearest
        return 2.0 if nearest is None else nearest.value

    @property
    def nearest(self) -> ModelPair | None:
        """The two models hardest to distinguish; None in a class of one."""
        if self.n_models == 1:
            return None
        above = self._above()
        apart = self.distance[above]
        return self._at(above, apart <= apart.min() * (1.0 + TIE))

    @property
    def farthest(self) -> ModelPair | None:
        """The two models easiest to distinguish; None in a class of one."""
        if self.n_models == 1:
            return None
        above = self._above()
        apart = self.distance[above]
        return self._at(above, apart * (1.0 + TIE) >= apart.max())

    @property
    def duplicates(self) -> tuple[tuple[int, ...], ...]:
        """Groups of models with equal kernels, each in order; empty if there is none.

        Equal means equal numbers, so that groups never overlap.
        """
        same = self.distance == 0.0
        first = np.argmax(same, axis=1)
        groups = [np.flatnonzero(first == m) for m in np.unique(first)]
        return tuple(tuple(map(int, group)) for group in groups if group.size > 1)

    @property
    def exponent(self) -> FloatArray:
        """-log BC of each pair at its best (s, a), (M, M): 0 if the kernels are equal.

        It is inf where one sample decides. Digits are kept at both ends.
        """
        with np.errstate(divide="ignore"):
            near = -np.log1p(-self.hellinger)
            return np.asarray(
                np.where(self.hellinger < 0.5, near, -np.log(self.affinity))
            )

    def between(self, first: int, second: int) -> ModelPair:
        """Return where two models are farthest apart in L1, and how far."""
        i, j = self._members(first, second)
        return self._pair(i, j, self.distance_row, self.distance)

    def least_affinity(self, first: int, second: int) -> ModelPair:
        """Return where two models overlap least, and their BC at this pair (s, a)."""
        i, j = self._members(first, second)
        return self._pair(i, j, self.hellinger_row, self.affinity)

    def _above(self) -> BoolArray:
        above: BoolArray = np.triu(np.ones_like(self.distance, np.bool_), 1)
        return above

    def _at(self, above: BoolArray, chosen: BoolArray) -> ModelPair:
        """Return the first pair above the diagonal that is chosen."""
        at = int(np.flatnonzero(above)[int(np.argmax(chosen))])
        return self.between(*divmod(at, self.n_models))

    def _pair(self, i: int, j: int, rows: IndexArray, values: FloatArray) -> ModelPair:
        row, value = int(rows[i, j]), float(values[i, j])
        if row < 0:
            return ModelPair(i, j, None, None, value)
        return ModelPair(i, j, row // self.n_actions, row % self.n_actions, value)

    def _members(self, first: int, second: int) -> tuple[int, int]:
        for member in (first, second):
            if not 0 <= member < self.n_models:
                raise InvalidArgument(
                    f"there is no model {member} in a class of {self.n_models}",
                    hint=f"models are numbered 0 to {self.n_models - 1}",
                )
        return int(first), int(second)


def separation(simulators: SimulatorClass) -> Separation:
    """Return delta(U) of Assumption 2 with the distances of all pairs of models."""
    members, kernel = simulators.n_models, simulators.transitions
    if members > MOST_MODELS:
        raise InvalidArgument(
            f"{members} models make {members * (members - 1) // 2} pairs",
            hint=f"pairs are compared up to {MOST_MODELS} models; take a part of the "
            "class with class_from_models",
        )
    return separation_of_laws(kernel.indptr, kernel.values, kernel.n_actions)


def separation_of_laws(
    indptr: OffsetArray, chances: FloatArray, n_actions: int
) -> Separation:
    """Return the distances of all pairs of models whose laws have chances (M, E).

    Row (s, a) has the outcomes indptr[row] to indptr[row + 1] - 1: next states, or what
    else is seen after an action.
    """
    members = len(chances)
    distance, total, hellinger = (np.zeros((members, members)) for _ in range(3))
    rows = [np.full((members, members), -1, np.int32) for _ in range(2)]
    affinity = np.ones((members, members))
    compare_models(
        indptr,
        chances,
        TIE,
        distance,
        rows[0],
        total,
        hellinger,
        rows[1],
        affinity,
    )
    # Rows of P sum to 1 up to 1e-9, so that distances could pass their ends by as much.
    np.minimum(distance, 2.0, out=distance)
    np.minimum(hellinger, 1.0, out=hellinger)
    np.minimum(affinity, 1.0, out=affinity)
    total /= indptr.size - 1
    for matrix in (distance, total, hellinger, affinity):
        _mirror(matrix)
    for places in rows:
        _mirror(places)
    return Separation(
        n_actions=n_actions,
        distance=distance,
        distance_row=rows[0],
        average_distance=total,
        hellinger=hellinger,
        hellinger_row=rows[1],
        affinity=affinity,
    )


def _mirror(matrix: FloatArray | IndexArray) -> None:
    """Copy what is above the diagonal below it and freeze the matrix."""
    for i in range(1, len(matrix)):
        matrix[i, :i] = matrix[:i, i]
    owned(matrix)
