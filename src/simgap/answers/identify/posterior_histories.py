"""The posterior of the real model, history by history: exact while they are few.

A history has a weight w_m in each model, the product of the chances of what was seen;
its posterior is nu_m w_m over their sum, and

    E_m[posterior of m] = sum over histories of w_m * posterior of m.

Histories at the same node of the policy graph with proportional weights have the same
posterior and the same future, so they are added up. Proportional means that logarithms
of weights agree to SAME: that moves a posterior by less than this at each step.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.policies import GraphPolicy

SAME = 1e-11
DIGITS = 11


def exact_posteriors(
    latent: LatentMDP, policy: GraphPolicy, steps: OffsetArray, *, most_numbers: int
) -> FloatArray:
    """Return E_m[posterior of m] after each of the first steps, (K, models).

    Models are those with prior weight. K counts the steps that were reached before
    `most_numbers` weights were computed, and is at least 1: step 0 is always there.
    """
    kernel, kept = latent.simulators.transitions, np.flatnonzero(latent.prior > 0.0)
    prior, likelihood = latent.prior[kept], kernel.values[kept].T
    laws = np.stack([latent.simulators.start_law(int(m)) for m in kept], axis=1)
    first = np.flatnonzero(laws.any(axis=1))
    nodes, weights = policy.start_node[first].astype(np.int64), laws[first]
    found: list[FloatArray] = []
    done, computed = 0, 0
    for step in steps.tolist():
        while done < step:
            rules = _rules(policy, nodes, done)
            rows = policy.node_state[nodes].astype(np.int64) * kernel.n_actions
            rows += policy.rule_action[rules]
            begins, lengths = kernel.indptr[rows], np.diff(kernel.indptr)[rows]
            computed += int(lengths.sum()) * prior.size
            if computed > most_numbers:
                return np.array(found)
            parent = np.repeat(np.arange(nodes.size), lengths)
            column = np.arange(parent.size) - np.repeat(
                np.cumsum(lengths) - lengths, lengths
            )
            weights = weights[parent] * likelihood[begins[parent] + column]
            nodes = policy.next_node[policy.next_offsets[rules][parent] + column]
            seen = weights.any(axis=1)
            done += 1
            nodes, weights = _added_up(nodes[seen].astype(np.int64), weights[seen])
        weighted = weights / weights.max(axis=1, keepdims=True) * prior  # never all 0
        posterior = weighted / weighted.sum(axis=1, keepdims=True)
        found.append((weights * posterior).sum(axis=0))
    return np.array(found)


def incomplete(policy: GraphPolicy) -> InvalidArgument:
    """Return the error of a graph that has no node where a model can come."""
    return InvalidArgument(
        f"the policy graph {policy.name!r} has no node for something that a model "
        "with prior weight can do",
        hint="it was planned for another prior or class, or it is incomplete",
    )


def _added_up(
    nodes: OffsetArray, weights: FloatArray
) -> tuple[OffsetArray, FloatArray]:
    """Add up weights that are proportional at the same node."""
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    logs -= logs.max(axis=1, keepdims=True)
    key = np.column_stack([nodes.astype(np.float64), np.round(logs, DIGITS) + 0.0])
    order = np.lexsort(key.T[::-1])
    new = np.ones(order.size, np.bool_)
    ranked = key[order]
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    begins = np.flatnonzero(new)
    return nodes[order][begins], np.add.reduceat(weights[order], begins)


def _rules(policy: GraphPolicy, nodes: OffsetArray, step: int) -> OffsetArray:
    """Return the rule that each node follows at a step."""
    if (nodes < 0).any():
        raise incomplete(policy)
    horizon = policy.horizon
    assert horizon is not None
    owner = np.repeat(np.arange(policy.n_nodes), np.diff(policy.rule_offsets))
    ends = owner * horizon + policy.rule_until  # rising: rules of a node are in order
    found: OffsetArray = np.searchsorted(ends, nodes * horizon + step)
    return found
