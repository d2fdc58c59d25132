"""Belief-tracking policies: what actions cost at a posterior, and whole episodes.

Both kernels add in the same order and without contraction, so that an episode plays
exactly what the policy would play step by step, ties included.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.walking.streams import FIRST_DRAW, mixed, uniform
from simgap.arrays import BoolArray, FloatArray, IndexArray, Integer, OffsetArray

BLOCK = 64  # episodes side by side, so that the losses of a step stay in the cache
MANY = 16  # vectors of a state from which on they are sifted first
PAUSE = 8  # steps between two looks at what is left
TINY = 1e-300  # least weight of a model that is still possible (simgap.policies)


@kernel(allocates=True)
def action_costs(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    discount: float,
    vector_set: int,
    last: bool,
    vector_offsets: OffsetArray,
    vectors: FloatArray,
    weights: FloatArray,
    state: int,
    costs: FloatArray,
) -> None:
    """Write loss + discount * tail of every action; losses are those of the step.

    The tail of a successor is the least product of its joint weights with one of its
    vectors, and zero at the last step or if there are none.
    """
    n_states, n_actions, members = losses.shape
    joint = np.empty(members)
    for action in range(n_actions):
        cost = 0.0
        for m in range(members):
            cost += weights[m] * losses[state, action, m]
        costs[action] = cost
        if last or vectors.shape[0] == 0:
            continue
        row = state * n_actions + action
        tails = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            at = vector_set * n_states + indices[k]
            for m in range(members):
                joint[m] = weights[m] * likelihood[k, m]
            least = np.inf
            for v in range(vector_offsets[at], vector_offsets[at + 1]):
                product = 0.0
                for m in range(members):
                    product += joint[m] * vectors[v, m]
                least = min(least, product)
            if least < np.inf:
                tails += least
        costs[action] = cost + discount * tails


# Without NaN and signed zeros a minimum can be vectorised; sums keep their order.
@kernel(allocates=True, divides_by_zero=True, fastmath=frozenset({"nnan", "nsz"}))
def simulate_belief_policy(
    indptr: OffsetArray,
    indices: IndexArray,
    probabilities: FloatArray,
    real_losses: FloatArray,
    start_law: FloatArray,
    likelihood: FloatArray,
    losses: FloatArray,
    first_weights: FloatArray,
    vector_set: IndexArray,
    vector_offsets: OffsetArray,
    columns: FloatArray,
    fallback: FloatArray,
    prune: bool,
    own_losses: bool,
    discount: float,
    length: int,
    slopes: FloatArray,
    largest: float,
    enough: float,
    seed: Integer,
    earlier: int,
    models: IndexArray,
    strata: FloatArray,
    posterior_loss: FloatArray,
    model_loss: FloatArray,
    dropped: FloatArray,
    outside: BoolArray,
) -> None:
    """Write the losses of one episode each: the posterior mean, and the model's own.

    The world is (probabilities (M, nnz), real_losses (T, S, A, M), start_law (M, S));
    the policy has its own likelihood, losses, first posteriors (S, M), and vectors as
    columns (M, V). Episode e runs in models[e]; its first state is the quantile
    strata[e, 0] + u * strata[e, 1], u uniform, of the start law. It draws what episode
    `earlier` + e of the seed draws, so that many can be run in pieces. With `prune`
    (losses and vectors are not negative) actions that cannot be best are skipped. After
    a step that the policy deems impossible it keeps its posterior, and `outside` says
    so.

    An episode ends early when what is left is at most `enough`: with weight b on its
    model m the expected loss of any later step is at most slopes[m] (1 - b) / b. What
    is left then, or after `length` steps with a discount, is at most `dropped`; no loss
    is above `largest`.
    """
    n_states, n_actions, members = losses.shape[1:]
    finite = discount == 1.0
    longest = 0
    for row in range(vector_offsets.size - 1):
        longest = max(longest, vector_offsets[row + 1] - vector_offsets[row])
    products = np.empty(max(longest, 1))
    guesses = np.zeros(vector_offsets.size, np.int64)  # best when last looked at
    joint = np.empty(members)
    costs = np.empty(n_actions)
    every_weight = np.empty((BLOCK, members))
    states = np.empty(BLOCK, np.int64)
    running = np.empty(BLOCK, np.int64)
    keys = np.empty(BLOCK, np.uint64)
    root = mixed(seed, FIRST_DRAW)
    for first in range(0, models.size, BLOCK):
        count = min(BLOCK, models.size - first)
        for i in range(count):
            episode = first + i
            keys[i] = mixed(root, earlier + episode)
            model = models[episode]
            quantile = (
                strata[episode, 0] + uniform(keys[i], FIRST_DRAW) * strata[episode, 1]
            )
            total = 0.0
            for s in range(n_states):
                if start_law[model, s] > 0.0:
                    total += start_law[model, s]
                    states[i] = s
                    if quantile < total:
                        break
            total = 0.0
            for m in range(members):
                every_weight[i, m] = first_weights[states[i], m]
                total += every_weight[i, m]
            outside[episode] = total == 0.0
            if outside[episode]:
                for m in range(members):
                    every_weight[i, m] = fallback[m]
            posterior_loss[episode] = 0.0
            model_loss[episode] = 0.0
            dropped[episode] = 0.0
            running[i] = i
        factor = 1.0
        for h in range(length):
            at_step = h if finite else 0
            if h % PAUSE == 0:
                rest = float(length - h) if finite else factor / (1.0 - discount)
                kept = 0
                for j in range(count):
                    episode = first + running[j]
                    model = models[episode]
                    if slopes[model] < np.inf:
                        others = 0.0
                        for m in range(members):
                            if m != model:
                                others += every_weight[running[j], m]
                        left = rest * slopes[model] * others
                        if left <= enough * every_weight[running[j], model]:
                            dropped[episode] = left / every_weight[running[j], model]
                            continue
                    running[kept] = running[j]
                    kept += 1
                count = kept
            for j in range(count):
                i = running[j]
                episode = first + i
                model = models[episode]
                state = states[i]
                weights = every_weight[i]
                action = 0
                for a in range(n_actions):
                    cost = 0.0
                    for m in range(members):
                        cost += weights[m] * losses[at_step, state, a, m]
                    costs[a] = cost
                    if cost < costs[action]:
                        action = a
                if longest > 0 and not (finite and h == length - 1):
                    begin_set = vector_set[at_step + 1] * n_states
                    nearest = action
                    best = np.inf
                    top = 0
                    second = 1 if members > 1 else 0
                    for m in range(1, members):
                        if weights[m] > weights[top]:
                            second = top
                            top = m
                        elif weights[m] > weights[second] or second == top:
                            second = m
                    for turn in range(n_actions):  # the cheapest now goes first
                        a = turn - 1 if turn <= nearest else turn
                        if turn == 0:
                            a = nearest
                        if prune and costs[a] > best:
                            continue
                        tails = 0.0
                        row = state * n_actions + a
                        for k in range(indptr[row], indptr[row + 1]):
                            begin = vector_offsets[begin_set + indices[k]]
                            size = vector_offsets[begin_set + indices[k] + 1] - begin
                            if size == 0:
                                continue
                            for m in range(members):
                                joint[m] = weights[m] * likelihood[k, m]
                            if not prune or size < MANY:
                                for v in range(size):
                                    products[v] = 0.0
                                for m in range(members):
                                    weight = joint[m]
                                    for v in range(size):
                                        products[v] += weight * columns[m, begin + v]
                                least = products[0]
                                for v in range(1, size):
                                    least = min(least, products[v])
                            else:  # the two likeliest models rule most vectors out
                                one, two = joint[top], joint[second]
                                for v in range(size):
                                    products[v] = (
                                        one * columns[top, begin + v]
                                        + two * columns[second, begin + v]
                                    )
                                guess = guesses[begin_set + indices[k]]
                                least = 0.0
                                for m in range(members):
                                    least += joint[m] * columns[m, begin + guess]
                                for v in range(size):
                                    if products[v] <= least * (1.0 + 1e-12):
                                        product = 0.0
                                        for m in range(members):
                                            product += joint[m] * columns[m, begin + v]
                                        if product < least:
                                            least = product
                                            guesses[begin_set + indices[k]] = v
                            tails += least
                            if prune and costs[a] + discount * tails > best:
                                break
                        cost = costs[a] + discount * tails
                        if cost < best or (cost == best and a < action):
                            best = cost
                            action = a
                mean = costs[action]
                if not own_losses:
                    mean = 0.0
                    for m in range(members):
                        mean += weights[m] * real_losses[at_step, state, action, m]
                posterior_loss[episode] += factor * mean
                model_loss[episode] += (
                    factor * real_losses[at_step, state, action, model]
                )
                row = state * n_actions + action
                draw = uniform(keys[i], h + 1)
                total = 0.0
                chosen = indptr[row]
                for k in range(indptr[row], indptr[row + 1]):
                    if probabilities[model, k] > 0.0:
                        total += probabilities[model, k]
                        chosen = k
                        if draw < total:
                            break
                states[i] = indices[chosen]
                total = 0.0
                for m in range(members):
                    joint[m] = weights[m] * likelihood[chosen, m]
                    total += joint[m]
                if total < TINY:
                    most_weight = 0.0
                    most_likely = 0.0
                    for m in range(members):
                        if weights[m] > 0.0 and likelihood[chosen, m] > 0.0:
                            most_weight = max(most_weight, weights[m])
                            most_likely = max(most_likely, likelihood[chosen, m])
                    if most_weight == 0.0:
                        outside[episode] = True
                        continue
                    total = 0.0
                    for m in range(members):
                        possible = weights[m] > 0.0 and likelihood[chosen, m] > 0.0
                        joint[m] = 0.0
                        if possible:
                            joint[m] = weights[m] / most_weight
                            joint[m] *= likelihood[chosen, m] / most_likely
                        total += joint[m]
                for m in range(members):
                    possible = weights[m] > 0.0 and likelihood[chosen, m] > 0.0
                    weights[m] = max(joint[m] / total, TINY) if possible else 0.0
            factor *= discount
        if not finite:
            for j in range(count):
                dropped[first + running[j]] = factor / (1.0 - discount) * largest
