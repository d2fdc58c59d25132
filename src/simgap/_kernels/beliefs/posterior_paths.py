"""Episodes of a policy graph, and what they say about the model they happen in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.walking.streams import FIRST_DRAW, uniform
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray


class Rules(NamedTuple):
    """A policy graph with a horizon, as `GraphPolicy` stores it."""

    node_state: IndexArray  # (N,)
    start_node: IndexArray  # (S,)
    rule_offsets: OffsetArray  # (N + 1,)
    rule_until: IndexArray  # (R,)
    rule_action: IndexArray  # (R,)
    next_offsets: OffsetArray  # (R + 1,)
    next_node: IndexArray


@kernel(allocates=True)
def follow_posteriors(
    indptr: OffsetArray,
    likelihood: FloatArray,
    prior: FloatArray,
    start_law: FloatArray,
    rules: Rules,
    real: int,
    keys: AnyArray,
    marks: OffsetArray,
    out: FloatArray,
) -> int:
    """Write the posterior of the real model after marks[k] steps to out[episode, k].

    `likelihood` is (nnz, M), `start_law` (S, M), marks rise. Returns -1, or the first
    episode that came where the graph has no node; later ones are then not written.
    """
    members, n_states = prior.size, start_law.shape[0]
    n_actions = (indptr.size - 1) // n_states
    belief = np.empty(members)
    for i in range(keys.size):
        state = _drawn(start_law, 0, n_states, real, uniform(keys[i], FIRST_DRAW))
        copy_vector(prior, belief)
        _condition(belief, start_law[state])
        node = rules.start_node[state]
        step = 0
        for k in range(marks.size):
            while step < marks[k]:
                if node < 0:
                    return i
                rule = _rule(rules, node, step)
                row = rules.node_state[node] * n_actions + rules.rule_action[rule]
                begin, end = indptr[row], indptr[row + 1]
                step += 1
                at = _drawn(likelihood, begin, end, real, uniform(keys[i], step))
                _condition(belief, likelihood[at])
                node = rules.next_node[rules.next_offsets[rule] + at - begin]
            out[i, k] = belief[real]
    return -1


@kernel
def _rule(rules: Rules, node: int, step: int) -> int:
    """Return the first rule of a node that lasts until a step or longer."""
    low, high = rules.rule_offsets[node], rules.rule_offsets[node + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if rules.rule_until[middle] < step:
            low = middle + 1
        else:
            high = middle
    return low  # type: ignore[no-any-return]


@kernel
def _drawn(chances: FloatArray, begin: int, end: int, real: int, draw: float) -> int:
    """Return the entry from begin to end - 1 at a quantile; one of chance 0 never."""
    total, last = 0.0, begin
    for k in range(begin, end):
        if chances[k, real] > 0.0:
            total += chances[k, real]
            last = k
            if draw < total:
                break
    return last


@kernel
def _condition(belief: FloatArray, chances: FloatArray) -> None:
    """Multiply a belief by the chances of what was seen, and divide by the sum."""
    evidence = 0.0
    for m in range(belief.size):
        belief[m] *= chances[m]
        evidence += belief[m]
    scale = 1.0 / evidence
    for m in range(belief.size):
        belief[m] *= scale
