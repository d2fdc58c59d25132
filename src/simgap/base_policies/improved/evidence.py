"""What every observation says about every model, as logarithms of likelihoods.

The likelihood of a model is a product over observed edges, so counts of edges say all
there is to know. Logarithms are taken once, relative to the model of the class that
makes the edge likeliest: an edge that all models deem equally likely then weighs zero
and is left out. Sums run over the other edges in one fixed order, from integer counts,
so that they have the same bits however often and wherever they are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.agents.known_class import Weights
from simgap.arrays import FloatArray, IndexArray, OffsetArray, read_only
from simgap.simulation import ObservedClass


@final
@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Logarithms of chances, less the greatest of the class; -inf where impossible."""

    edges: OffsetArray  # (J,), the edges that tell models apart, increasing
    place: IndexArray  # (E,), where an edge stands among these, or -1
    weight: FloatArray  # (J, M)
    at_start: FloatArray  # (S, M), of the first state

    @property
    def members(self) -> int:
        return int(self.weight.shape[1])

    @property
    def heaviest(self) -> float:
        """The greatest finite weight of one observation."""
        finite = np.concatenate([self.weight.reshape(-1), self.at_start.reshape(-1)])
        finite = finite[np.isfinite(finite)]
        return float(np.abs(finite).max()) if finite.size else 0.0

    def weights(self) -> Weights:
        """Return the weights of observations for a compiled agent."""
        return Weights(
            np.array(self.edges), np.array(self.weight), np.array(self.at_start)
        )

    def nothing(self) -> tuple[int, ...]:
        """Return counts of no observation at all."""
        return (0,) * self.edges.size

    def counted(self, counts: tuple[int, ...], edge: int) -> tuple[int, ...]:
        """Return the counts after one more edge."""
        at = int(self.place[edge])
        if at < 0:
            return counts
        return (*counts[:at], counts[at] + 1, *counts[at + 1 :])

    def log_likelihoods(self, first: FloatArray, counts: Sequence[int]) -> FloatArray:
        """Return `first` plus the sum of weights over the counts, (M,)."""
        total = np.array(first)
        for at, n in enumerate(counts):
            if n:  # 0 times -inf is not a number
                total = total + n * self.weight[at]
        return total


def evidence_of(observed: ObservedClass) -> Evidence:
    """Return the weights of all edges and first states of a class."""
    simulators = observed.simulators
    members, n_edges = len(simulators), observed.n_edges
    relative = _relative_logs(np.array(observed.chances).T)  # (E, M)
    edges = np.flatnonzero((relative != 0.0).any(axis=1))
    place = np.full(n_edges, -1, np.int32)
    place[edges] = np.arange(edges.size)
    laws = np.stack([simulators.start_law(m) for m in range(members)], axis=1)
    return Evidence(
        edges=read_only(edges, np.int64),
        place=read_only(place, np.int32),
        weight=read_only(relative[edges]),
        at_start=read_only(_relative_logs(laws)),
    )


def _relative_logs(chances: FloatArray) -> FloatArray:
    """Return log p_m - max_j log p_j of rows (n, M); what nobody allows weighs 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(chances)
    most = logs.max(axis=1, keepdims=True)
    allowed = np.isfinite(most)
    relative: FloatArray = np.where(allowed, logs - np.where(allowed, most, 0.0), 0.0)
    return relative
