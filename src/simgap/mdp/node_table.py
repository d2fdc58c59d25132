"""Steps from the nodes of a grid as the rows of a class, on one shared pattern.

The pattern holds every corner that some model reaches. It is found once, from all
models, because to widen it model by model would sort it again each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.errors import InvalidModel
from simgap.mdp.grid_states import NodeSteps
from simgap.mdp.transitions import Transitions
from simgap.mdp.union import UnionPattern

MOST_NUMBERS = 200_000_000  # probabilities in all models together, 1.6 GB
KEYS_AT_ONCE = 2**23  # edges collected before equal ones are merged


@final
@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """How nodes become states; the state of an episode that is over is the last one."""

    n_states: int
    n_actions: int
    kept: BoolArray  # (nodes,), those that are states
    state_of_node: OffsetArray  # (nodes,), its own state or that of the nearest one
    after_end: FloatArray | None  # (S,), where the end leads; None if there is none

    def transitions(self, steps: Sequence[NodeSteps], name: str) -> Transitions:
        """Return the kernels of all models; `name` is that of the simulator."""
        last = self._keys_of_end()
        union = self._union(steps, last)
        if union.size * len(steps) > MOST_NUMBERS:
            raise InvalidModel(
                f"{name} would hold {union.size * len(steps)} probabilities "
                f"({union.size} edges in {len(steps)} models)",
                hint=f"at most {MOST_NUMBERS} are built; ask for fewer cells or models",
            )
        rows = np.arange(self.n_states * self.n_actions + 1, dtype=np.int64)
        indptr = np.searchsorted(union, rows * self.n_states).astype(np.int64)
        indices = (union % self.n_states).astype(np.int32)
        pattern = UnionPattern(self.n_states, self.n_actions, len(steps))
        at_end = np.searchsorted(union, last)
        for each in steps:
            keys, weights = self._keys(each)
            values: FloatArray = np.zeros(union.size)
            # corners may have become the same state: their weights add up
            np.add.at(values, np.searchsorted(union, keys), weights)
            if self.after_end is not None:
                law = self.after_end[self.after_end > 0.0]
                values[at_end] = np.tile(law, self.n_actions)
            pattern.add(indptr, indices, values)
        return pattern.finish()

    def rewards(self, paid: FloatArray) -> FloatArray:
        """Return (M, S, A) from rewards (M, nodes, A); (1, S, A) if all pay alike."""
        table = paid[:, self.kept]
        if self.after_end is not None:
            over = np.zeros((len(table), 1, self.n_actions))  # nothing after the end
            table = np.concatenate([table, over], axis=1)
        return table[:1] if (table == table[:1]).all() else table

    def _union(self, steps: Sequence[NodeSteps], last: OffsetArray) -> OffsetArray:
        seen = [last]
        for each in steps:
            seen.append(self._keys(each)[0])
            if sum(part.size for part in seen) > KEYS_AT_ONCE:
                seen = [_distinct(seen)]
        return _distinct(seen)

    def _keys(self, steps: NodeSteps) -> tuple[OffsetArray, FloatArray]:
        """Return (s A + a) S + s' of every edge that has weight, with its weight."""
        weights = steps.weights[self.kept]
        place = np.append(self.state_of_node, self.n_states - 1)
        after = place[steps.corners[self.kept]]
        rows = np.arange(len(weights) * self.n_actions, dtype=np.int64)
        corners = weights.shape[1] // self.n_actions
        first = np.repeat(rows, corners).reshape(weights.shape) * self.n_states
        used = weights > 0.0
        return (first + after)[used], weights[used]

    def _keys_of_end(self) -> OffsetArray:
        if self.after_end is None:
            return np.zeros(0, np.int64)
        rows = (self.n_states - 1) * self.n_actions + np.arange(self.n_actions)
        return np.asarray(
            rows[:, None] * self.n_states + np.flatnonzero(self.after_end)
        ).ravel()


def _distinct(parts: Sequence[OffsetArray]) -> OffsetArray:
    """Return the distinct keys in increasing order."""
    together = np.sort(np.concatenate(parts))
    fresh = np.ones(together.size, np.bool_)
    fresh[1:] = together[1:] != together[:-1]
    return together[fresh]
