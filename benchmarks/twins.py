"""Plain NumPy, SciPy and Python for what simgap computes: twins to time it against.

Each does the work in the shortest code that a careful person would write first, knows
nothing of kernels or certificates, and is never made faster: a ratio is what changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from simgap.answers.identify.shared_paths import SharedPaths
from simgap.arrays import FloatArray
from simgap.base_policies.paper import OptimisticExploration
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import LossForm
from simgap.policies import BeliefPolicy

HORIZON = 200  # of CartPole


def stacked(simulators: SimulatorClass, member: int = 0) -> Any:
    """Return the rows (s, a) of a model as a SciPy matrix, (S A, S)."""
    kernel = simulators.transitions
    shape = (kernel.n_states * kernel.n_actions, kernel.n_states)
    stored = (kernel.values[member], kernel.indices, kernel.indptr)
    return sparse.csr_matrix(stored, shape=shape)


def optimal_values(P: Any, R: FloatArray, horizon: int) -> FloatArray:
    """Return V*_1 by backward induction."""
    values = np.zeros(len(R))
    for _ in range(horizon):
        values = (R + (P @ values).reshape(R.shape)).max(axis=1)
    return values


def optimal_gain(P: Any, R: FloatArray) -> float:
    """Return the optimal gain by policy iteration, a sparse system at a time."""
    states, policy = np.arange(len(R)), np.zeros(len(R), np.int64)
    while True:
        kept = P[states * R.shape[1] + policy]
        system = sparse.lil_matrix(sparse.eye(len(R)) - kept)
        system[:, 0] = 1.0  # of the gain: the bias of state 0 is 0
        bias = spsolve(sparse.csc_matrix(system), R[states, policy])
        gain, bias[0] = bias[0], 0.0
        values = R + (P @ bias).reshape(R.shape)
        better = values.max(axis=1) > values[states, policy] + 1e-9
        if not better.any():
            return float(gain)
        policy[better] = values.argmax(axis=1)[better]


def greatest_hitting_time(P: FloatArray) -> float:
    """Return the diameter by policy iteration for all targets; all policies arrive."""
    states = np.arange(len(P))
    policy = np.zeros((len(P), len(P)), np.int64)  # target, state
    while True:
        system = np.eye(len(P)) - P[states, policy]
        system[states, :, states] = 0.0  # what follows the target
        system[states, states] = np.eye(len(P))
        times = np.linalg.solve(system, (1.0 - np.eye(len(P)))[..., None])[..., 0]
        longer = 1.0 + np.einsum("sat,gt->gsa", P, times, optimize=True)
        current = np.take_along_axis(longer, policy[..., None], axis=2)[..., 0]
        better = longer.min(axis=2) < current - 1e-9
        if not better.any():
            return float(times.max())
        policy[better] = longer.argmin(axis=2)[better]


def oracle_value(latent: LatentMDP, horizon: int) -> float:
    """Return W* by a recursion over all beliefs that can be reached, step by step."""
    worlds = latent.simulators
    P = np.stack([worlds.transitions.array(m) for m in range(len(worlds))])
    n_actions = P.shape[2]
    first = np.flatnonzero(worlds.start_law(0))
    assert first.size == 1  # of all models
    state, belief = first, latent.prior[None]
    steps = []
    for _ in range(horizon):
        weight = belief[:, :, None, None] * P[:, state].swapaxes(0, 1)  # n, m, a, t
        chance = weight.sum(axis=1)
        n, a, t = np.nonzero(chance)
        after = weight[n, :, a, t] / chance[n, a, t][:, None]
        keys = np.column_stack([t, np.round(after, 10)])
        _, which, child = np.unique(
            keys, axis=0, return_index=True, return_inverse=True
        )
        steps.append((state, chance[n, a, t], n * n_actions + a, child.ravel()))
        state, belief = t[which], after[which]
    values = np.zeros(len(state))
    for state, chance, row, child in reversed(steps):
        later = np.bincount(row, chance * values[child], len(state) * n_actions)
        paid = worlds.rewards[0][state]
        values = (paid + later.reshape(-1, n_actions)).max(axis=1)
    return float(values[0])


def oracle_lower_bound(latent: LatentMDP, horizon: int, points: int) -> float:
    """Return a lower bound of W* by point-based backups at random beliefs."""
    worlds = latent.simulators
    P = np.stack([worlds.transitions.array(m) for m in range(len(worlds))])
    members, n_states, n_actions, _ = P.shape
    beliefs = np.random.default_rng(0).dirichlet(np.full(members, 0.3), points)
    beliefs[0] = latent.prior
    vectors = np.zeros((n_states, 1, members))
    for _ in range(horizon):
        made = np.empty((n_states, points, members))
        for s in range(n_states):
            best = np.full(points, -np.inf)
            for a in range(n_actions):
                total = np.full((points, members), worlds.rewards[0][s, a])
                for t in np.flatnonzero(P[:, s, a].any(axis=0)):
                    scaled = vectors[t] * P[:, s, a, t]
                    total += scaled[(beliefs @ scaled.T).argmax(axis=1)]
                value = (beliefs * total).sum(axis=1)
                made[s, value > best] = total[value > best]
                best = np.maximum(best, value)
        vectors = made
    first = int(np.flatnonzero(worlds.start_law(0))[0])
    return float((vectors[first] @ latent.prior).max())


def explored(
    agent: OptimisticExploration, steps: int, runs: int, members: int
) -> FloatArray:
    """Return what Algorithm 3 earns in `runs` episodes of each model, all abreast."""
    known, rng = agent.known, np.random.default_rng(0)
    P = np.stack([known.simulators.transitions.array(m) for m in range(members)])
    sums, lanes = P.cumsum(axis=-1), np.arange(members * runs)
    real = lanes // runs
    state = np.full(lanes.size, int(np.flatnonzero(known.simulators.start_law(0))[0]))
    R, rank = known.simulators.rewards[0], np.argsort(known.order)
    alive = np.ones((lanes.size, members), np.bool_)
    model, first = np.full(lanes.size, known.order[0]), state
    count, paid = np.zeros(lanes.size), np.zeros(lanes.size)
    earned = np.zeros(lanes.size)
    for _ in range(steps):
        action = known.policy[model, state]
        reward = R[state, action]
        drawn = sums[real, state, action] < rng.random(lanes.size)[:, None]
        state = np.minimum(drawn.sum(axis=1), P.shape[1] - 1)
        earned, paid, count = earned + reward, paid + reward, count + 1
        moved = known.bias[model, first] - known.bias[model, state]
        limit = known.width[model] * np.sqrt(count * agent.log_term)
        limit += agent.levels.tolerance[model]
        (out,) = np.nonzero(np.abs(count * known.gain[model] - paid + moved) > limit)
        if out.size:
            alive[out, model[out]] = False
            alive[out[~alive[out].any(axis=1)]] = True
            model[out] = np.where(alive[out], rank, members).argmin(axis=1)
            first = np.where(np.isin(lanes, out), state, first)
            count[out] = paid[out] = 0.0
    return earned.reshape(members, runs)


def followed(form: LossForm, policy: BeliefPolicy, episodes: int) -> float:
    """Return the average gap of a belief policy in so many episodes, all abreast."""
    rng, kernel = np.random.default_rng(0), policy.pattern
    members, n_actions = policy.prior.size, kernel.n_actions
    real = rng.choice(members, episodes, p=policy.prior)
    state = np.full(episodes, int(form.root_states[0]))
    belief = np.tile(policy.prior, (episodes, 1))
    lost, steps, offsets = 0.0, len(policy.losses), policy.vector_offsets
    for h in range(steps):
        action = np.empty(episodes, np.int64)
        for s in np.unique(state):
            (here,) = np.nonzero(state == s)
            now = belief[here] @ policy.losses[h, s].T
            costs = now.copy()
            for a in range(n_actions if h + 1 < steps else 0):
                at = s * n_actions + a
                for k in range(kernel.indptr[at], kernel.indptr[at + 1]):
                    row = policy.vector_set[h + 1] * kernel.n_states + kernel.indices[k]
                    stored = policy.vectors[offsets[row] : offsets[row + 1]]
                    if len(stored):
                        weight = belief[here] * policy.likelihood[k]
                        costs[:, a] += (weight @ stored.T).min(axis=1)
            action[here] = costs.argmin(axis=1)
            lost += now[np.arange(here.size), action[here]].sum()
        first = kernel.indptr[state * n_actions + action]
        last = kernel.indptr[state * n_actions + action + 1] - 1
        edge, left = first.copy(), rng.random(episodes)
        for _ in range(int((last - first).max())):
            left -= policy.likelihood[edge, real]
            edge += (left >= 0.0) & (edge < last)
        belief *= policy.likelihood[edge]
        belief /= belief.sum(axis=1, keepdims=True)
        state = kernel.indices[edge].astype(np.int64)
    return lost / episodes


def balanced(lengths: FloatArray, weights: FloatArray, start: FloatArray) -> FloatArray:
    """Return how long poles of some lengths are kept upright, all carts abreast.

    The equations are those of CartPole-v1; the cart is pushed to the side of `weights`.
    """
    x, v, angle, turn = start.T
    up, steps = np.ones(len(start), np.bool_), np.zeros(len(start))
    for _ in range(HORIZON):
        force = np.where(np.stack([x, v, angle, turn]).T @ weights > 0.0, 10.0, -10.0)
        sine, cosine = np.sin(angle), np.cos(angle)
        push = (force + 0.1 * lengths * turn**2 * sine) / 1.1
        reach = lengths * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1)
        bend = (9.8 * sine - cosine * push) / reach
        speed = push - 0.1 * lengths * bend * cosine / 1.1
        x, v = x + 0.02 * v, v + 0.02 * speed
        angle, turn = angle + 0.02 * turn, turn + 0.02 * bend
        steps += up
        up = up & (np.abs(x) <= 2.4) & (np.abs(angle) <= 24.0 * np.pi / 360.0)
        if not up.any():
            break
    return steps


def greatest_l1(simulators: SimulatorClass) -> FloatArray:
    """Return the greatest L1 distances of models, one (s, a) at a time."""
    kernel, members = simulators.transitions, len(simulators)
    best = np.zeros((members, members))
    for begin, end in zip(kernel.indptr[:-1], kernel.indptr[1:], strict=True):
        rows = kernel.values[:, begin:end]
        for i in range(members):
            apart = np.abs(rows - rows[i]).sum(axis=1)
            np.maximum(best[i], apart, out=best[i])
    return best


def affinities(paths: SharedPaths, sweeps: int) -> FloatArray:
    """Return the least affinity of two models after so many sweeps."""
    values, series = np.ones(paths.n_places), np.empty(sweeps)
    for n in range(sweeps):
        rows = np.add.reduceat(paths.shared * values[paths.indices], paths.indptr[:-1])
        values = np.minimum.reduceat(rows, paths.groups[:-1])
        series[n] = paths.start @ values
    return series
