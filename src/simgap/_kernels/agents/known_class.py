"""What agents that know the class share: plans, and the weights of observations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray


class Plans(NamedTuple):
    """What every model would have an agent do."""

    order: IndexArray  # (M,), models by falling gain
    policy: IndexArray  # (M, S)
    tail_of: OffsetArray  # (M,), place of the policy among the tails


class Weights(NamedTuple):
    """Logarithms of chances, less the greatest of the class."""

    edges: OffsetArray  # (J,), edges that tell models apart
    weight: FloatArray  # (J, M)
    at_start: FloatArray  # (S, M), of the first state


@kernel
def best_alive(plans: Plans, alive: BoolArray) -> np.int64:
    """Return the survivor with the greatest gain; there must be one."""
    at = 0
    while not alive[plans.order[at]]:
        at += 1
    return np.int64(plans.order[at])


@kernel
def log_likelihoods(
    first: FloatArray, counts: OffsetArray, forgotten: OffsetArray, weights: Weights,
    out: FloatArray,
) -> None:  # fmt: skip
    """Write `first` plus the sum of weights over counts that are not forgotten."""
    copy_vector(first, out)
    for j in range(weights.edges.size):
        n = counts[weights.edges[j]] - forgotten[weights.edges[j]]
        if n > 0:
            for m in range(out.size):
                out[m] += n * weights.weight[j, m]
