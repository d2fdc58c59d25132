"""Branch and bound over short memories against the cost of every policy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simgap._kernels.beliefs.memoryless_bound import least_gap
from simgap.arrays import FloatArray
from simgap.oracle.baselines.windowed import first_weights, window_nodes
from simgap.oracle.loss_form import LossForm
from tests.kernels.test_memoryless import graph, problem


@pytest.mark.parametrize("seed", [0, 10, 20, 30])
@pytest.mark.parametrize(("depth", "horizon"), [(0, 3), (1, 3), (1, 1), (1, 2), (2, 3)])
def test_branch_and_bound_is_the_least_of_all_policies_up_to_its_depth(
    depth: int, horizon: int, seed: int
) -> None:
    form = problem(seed + depth + horizon, horizon=horizon)
    nodes = window_nodes(form.pattern, 0)
    first = first_weights(form, nodes)
    policy = np.zeros((horizon, nodes.size), np.int32)
    every = graph(form, nodes), form.losses, first, depth
    bound, gap, work = least_gap(*every[0], *every[1:], 1e9, 10**7, policy)
    least, met = least_and_looks(form, first, 0, depth)
    assert bound == pytest.approx(least, rel=1e-12)
    assert gap == (bound if depth == horizon else 1e9)
    assert work == met if depth == 0 else work <= met
    again = least_gap(*every[0], *every[1:], 1e9, work, policy)
    assert again == (bound, gap, work)
    assert least_gap(*every[0], *every[1:], 1e9, work - 1, policy)[0] == -1.0
    known = 0.999 * bound  # a policy that is better leaves nothing to find
    assert least_gap(*every[0], *every[1:], known, 10**7, policy)[:2] == (known, known)


def least_and_looks(
    form: LossForm, weights: FloatArray, h: int, depth: int
) -> tuple[float, int]:
    """Return the least cost of all choices from step h on, and states looked at.

    From `depth` on every state with its weights is on its own, for two more steps.
    """
    pattern, losses = form.pattern, form.losses
    present = np.flatnonzero(weights.sum(axis=1) > 0.0)
    if h == form.horizon:
        return 0.0, 0
    if h == depth:
        total = 0.0
        for s in present:
            costs = losses[h, s] @ weights[s]
            for a in range(pattern.n_actions if h + 1 < len(losses) else 0):
                row = s * pattern.n_actions + a
                for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
                    later = losses[h + 1, pattern.indices[k]]
                    costs[a] += (later @ (weights[s] * form.likelihood[k])).min()
            total += float(costs.min())
        return total, present.size
    least, looks = np.inf, present.size
    for actions in product(range(pattern.n_actions), repeat=present.size):
        after = np.zeros_like(weights)
        paid = 0.0
        for s, a in zip(present, actions, strict=True):
            paid += float(losses[h, s, a] @ weights[s])
            row = s * pattern.n_actions + a
            for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
                after[pattern.indices[k]] += weights[s] * form.likelihood[k]
        rest, more = least_and_looks(form, after, h + 1, depth)
        least, looks = min(least, paid + rest), looks + more
    return least, looks
