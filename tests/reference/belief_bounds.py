"""Slow twins of the bounds on the average gap, and latent MDPs that are hard on them.

Nothing here is fast or clever: recursions over beliefs in plain Python, linear programs
by a library, weights of nodes moved along a graph one edge at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import linprog

from simgap.arrays import AnyArray, FloatArray
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    class_from_models,
    mdp_from_arrays,
)
from simgap.oracle.loss_form import LossForm
from simgap.policies import NOWHERE, GraphPolicy
from tests.reference.latent import random_latent

SCALES = (1.0, 1.0, 1e-6, 1e6)
TINY = 1e-12


def hostile_latent(rng: np.random.Generator) -> tuple[LatentMDP, int]:
    """Return a random latent MDP with a twist, and a horizon from 0 to 5.

    Rewards very small, very large or negative, kernels without chance, priors that
    nearly vanish, models that are the same, episodes that are over at once.
    """
    latent, horizon = random_latent(rng, denominator=16, most_histories=400)
    scale, shift = SCALES[int(rng.integers(4))], -2.0 * float(rng.random() < 0.3)
    sure, same = rng.random() < 0.15, rng.random() < 0.1
    prior = latent.prior.copy()
    if prior.size > 1 and rng.random() < 0.3:
        least, most = int(prior.argmin()), int(prior.argmax())
        if least != most:
            prior[most] += prior[least] - TINY
            prior[least] = TINY
    if rng.random() < 0.3:
        horizon = int(rng.integers(0, 3))

    def kernel(member: int) -> FloatArray:
        P = latent.simulators.transitions.array(0 if same else member)
        return np.asarray(np.eye(P.shape[2])[P.argmax(axis=2)]) if sure else P

    made = rebuilt(
        latent, prior=prior, kernel=kernel, reward=lambda R: scale * (R + shift)
    )
    return made, horizon


def rebuilt(
    latent: LatentMDP,
    *,
    prior: FloatArray | None = None,
    kernel: Callable[[int], FloatArray] | None = None,
    reward: Callable[[FloatArray], FloatArray] = lambda R: R,
    order: Sequence[int] | None = None,
) -> LatentMDP:
    """Return a latent MDP with some parts exchanged; `order` picks and repeats models.

    `prior` belongs to the models as they are picked.
    """
    simulators = latent.simulators
    picked = range(len(simulators)) if order is None else order
    models = [
        mdp_from_arrays(
            simulators.transitions.array(m) if kernel is None else kernel(m),
            reward(np.array(simulators[m].rewards)),
            order=IndexOrder.STATE_ACTION,
            details=Details(start=simulators.start_law(m)),
        )
        for m in picked
    ]
    return LatentMDP(
        class_from_models(models), latent.prior if prior is None else prior
    )


def discounted_gap(form: LossForm, depth: int) -> tuple[float, float]:
    """Return bounds of the average gap: `depth` exact backups, then 0 or a sure plan.

    The sure plan follows one model for ever; its gaps are those of a linear system.
    """
    plans = _plans_of_one_model(form)

    def ends(left: int, s: int, w: FloatArray) -> tuple[float, float]:
        if left == 0:
            return 0.0, float((plans[:, s] @ w).min())
        found = []
        for a in range(form.pattern.n_actions):
            low = high = float(form.losses[0, s, a] @ w)
            for k in _row(form, s, a):
                after = form.discount * w * form.likelihood[k]
                if np.count_nonzero(after) > 1:  # else nothing is lost any more
                    rest = ends(left - 1, int(form.pattern.indices[k]), after)
                    low, high = low + rest[0], high + rest[1]
            found.append((low, high))
        return min(low for low, _ in found), min(high for _, high in found)

    every = [
        ends(depth, int(s), w)
        for s, w in zip(form.root_states, form.root_weights, strict=True)
    ]
    return sum(low for low, _ in every), sum(high for _, high in every)


def _plans_of_one_model(form: LossForm) -> FloatArray:
    """Return the gaps of following one model's plan for ever, (plan, S, M)."""
    S, M = form.pattern.n_states, form.n_models
    gaps = np.empty((M, S, M))
    for plan in range(M):
        actions = form.losses[0, :, :, plan].argmin(axis=1)
        for m in range(M):
            chain = np.zeros((S, S))
            for s in range(S):
                for k in _row(form, s, int(actions[s])):
                    chain[s, form.pattern.indices[k]] += form.likelihood[k, m]
            losses = form.losses[0, np.arange(S), actions, m]
            gaps[plan, :, m] = np.linalg.solve(
                np.eye(S) - form.discount * chain, losses
            )
    return gaps


def belief_gap(form: LossForm, h: int, s: int, w: FloatArray) -> float:
    """Return G_h(s, w) of a finite horizon, every belief by itself."""
    if form.horizon == h or np.count_nonzero(w) < 2:
        return 0.0
    costs = []
    for a in range(form.pattern.n_actions):
        cost = float(form.losses[h, s, a] @ w)
        for k in _row(form, s, a):
            rest = w * form.likelihood[k]
            cost += belief_gap(form, h + 1, int(form.pattern.indices[k]), rest)
        costs.append(cost)
    return min(costs)


def pair_recursion(
    form: LossForm, i: int, j: int, grid: FloatArray, steps: int
) -> FloatArray:
    """Return the bound of a pair at its first step on a grid of odds, (S, cells + 1).

    Beliefs between two points of the grid are interpolated.
    """
    S = form.pattern.n_states
    after = np.zeros((S, grid.size))
    for h in range(steps - 1, -1, -1):
        losses = form.losses[h if form.horizon is not None else 0]
        now = np.zeros_like(after)
        for s in range(S):
            for k in range(1, grid.size - 1):
                w = np.array([1.0 - grid[k], grid[k]])
                costs = []
                for a in range(form.pattern.n_actions):
                    cost = float(w @ losses[s, a, [i, j]])
                    for e in _row(form, s, a):
                        both = w * form.likelihood[e, [i, j]]
                        if both.sum() > 0.0:
                            face = after[form.pattern.indices[e]]
                            value = np.interp(both[1] / both.sum(), grid, face)
                            cost += form.discount * both.sum() * float(value)
                    costs.append(cost)
                now[s, k] = min(costs)
        after = now
    return after


def best_mixture_by_program(
    weight: FloatArray, beliefs: FloatArray, values: FloatArray
) -> float:
    """Return the best sum_k x_k value_k with x >= 0 and sum_k x_k belief_k <= weight.

    Amounts are solved for in units of what fits, so that tiny weights are no matter.
    """
    with np.errstate(divide="ignore"):
        fits = np.where(beliefs > 0.0, weight / np.maximum(beliefs, 1e-300), np.inf)
    most = fits.min(axis=1)
    used = most > 0.0
    if not used.any():
        return 0.0
    columns = beliefs[used] * most[used, None]
    rows = weight > 0.0
    found = linprog(
        -values[used] * most[used],
        A_ub=(columns[:, rows] / weight[rows]).T,
        b_ub=np.ones(int(rows.sum())),
        method="highs",
    )
    assert found.status == 0
    assert found.fun is not None
    return -float(found.fun)


def occupancy(
    form: LossForm, policy: GraphPolicy, steps: int
) -> list[dict[int, FloatArray]]:
    """Return for each step the weights of models with which each node is visited."""
    here: dict[int, FloatArray] = {}
    for s, w in zip(form.root_states, form.root_weights, strict=True):
        node = policy.start(int(s))
        here[node] = here.get(node, 0.0) + w
    found = [here]
    for h in range(steps - 1):
        there: dict[int, FloatArray] = {}
        for node, w in here.items():
            state = int(policy.node_state[node])
            rule = policy.rule(node, h, state)
            entries = _row(form, state, int(policy.rule_action[rule]))
            for place, k in enumerate(entries):
                to = int(policy.next_node[policy.next_offsets[rule] + place])
                there[to] = there.get(to, 0.0) + w * form.likelihood[k]
        here = there
        found.append(here)
    return found


def discounted_graph_gaps(
    form: LossForm, policy: GraphPolicy, *, steps: int
) -> FloatArray:
    """Return the gaps of every node at step 0 by asking it for its rule at each step.

    After `steps` steps nothing is counted any more; NaN where there is no rule. (N, M)
    """
    shape = (policy.n_nodes, form.n_models)
    after: FloatArray = np.zeros(shape)
    for h in range(steps - 1, -1, -1):
        now = np.full(shape, np.nan)
        for node, state in enumerate(policy.node_state):
            rule = _rule_for_ever(policy, node, h)
            if rule < 0:
                continue
            action = int(policy.rule_action[rule])
            now[node] = form.losses[0, state, action]
            for place, k in enumerate(_row(form, int(state), action)):
                to = policy.next_node[policy.next_offsets[rule] + place]
                rest = np.full(shape[1], np.nan) if to == NOWHERE else after[to]
                chance = form.likelihood[k]
                used = chance > 0.0
                now[node, used] += form.discount * chance[used] * rest[used]
        after = now
    return after


def _rule_for_ever(policy: GraphPolicy, node: int, h: int) -> int:
    """Return the rule of a node at step h; the last one has no end. -1: none."""
    first, last = policy.rule_offsets[node], policy.rule_offsets[node + 1] - 1
    if last == first:
        return int(last)
    for rule in range(first, last):
        if policy.rule_since[rule] <= h <= policy.rule_until[rule]:
            return int(rule)
    return int(last) if last > first and policy.rule_since[last] <= h else -1


def _row(form: LossForm, s: int, a: int) -> range:
    row = s * form.pattern.n_actions + a
    return range(form.pattern.indptr[row], form.pattern.indptr[row + 1])


def dense_beliefs(
    offsets: AnyArray, models: AnyArray, weights: FloatArray, members: int
) -> FloatArray:
    """Return sparse beliefs as rows, (N, M)."""
    full: FloatArray = np.zeros((offsets.size - 1, members))
    rows = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    np.add.at(full, (rows, models), weights)
    return full
