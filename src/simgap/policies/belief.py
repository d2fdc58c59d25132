"""Policies that track the posterior over models and act greedily on it.

At step h in state s with posterior b the action minimises

    sum_m b_m loss_m(h, s, a) + sum_s' tail(h + 1, s', b * likelihood(s' | s, a))

where tail(h, s', w) is the least w . v over the stored vectors v of s' (0 at the end of
the episode, and 0 if nothing is stored). Without vectors this is the greedy posterior
(QMDP) policy. Vectors are kept at some steps only: step h uses those of
`vector_set[h]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.policies.graph import Pattern


@final
@dataclass(frozen=True, slots=True, eq=False)
class BeliefPolicy:
    """Greedy on the posterior; memory is the posterior, a tuple of M numbers."""

    name: str
    pattern: Pattern
    horizon: int | None  # None: discounted, T = 1
    discount: float  # 1.0 for a finite horizon
    prior: FloatArray  # (M,)
    start_law: FloatArray  # (M, S), of the first state in each model
    likelihood: FloatArray  # (nnz, M), of each successor in each model
    losses: FloatArray  # (T, S, A, M)
    vector_set: IndexArray  # (T + 1,), which set of vectors to use at a step
    vector_offsets: OffsetArray  # (sets * S + 1,), row `set * S + state`
    vectors: FloatArray  # (V, M), gaps of continuations in each model
