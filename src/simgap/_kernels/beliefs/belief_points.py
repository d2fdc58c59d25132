"""Beliefs that are met when acting: the points at which the bounds are worked out.

Episodes run side by side, step by step: `begin_episodes`, then in turn one of the two
ways to choose actions and `live_one_step`, which keeps the beliefs that are new.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.beliefs.envelope import best_mixture
from simgap._kernels.compiled import kernel
from simgap._kernels.walking.streams import FIRST_DRAW, uniform
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray

FLOOR = 0.003  # beliefs well below this are all alike
NEAR_CORNERS = 0.15  # the scale of distances between logarithms
DECIDED = 1e-7  # what is left for the other models when an episode ends
OVER = -1  # the hidden model of an episode that has ended


@kernel(divides_by_zero=True)
def begin_episodes(
    root_states: IndexArray,
    root_weights: FloatArray,
    keys: AnyArray,
    states: IndexArray,
    hidden: IndexArray,
    beliefs: FloatArray,
) -> None:
    """Draw the first state and the hidden model of each episode together."""
    members = root_weights.shape[1]
    for episode in range(keys.size):
        left = uniform(keys[episode], FIRST_DRAW)
        hidden[episode] = OVER
        root = 0
        for k in range(root_states.size):
            for m in range(members):
                share = root_weights[k, m]
                if share > 0.0:
                    if hidden[episode] == OVER or left >= 0.0:
                        hidden[episode] = m
                        root = k
                    left -= share
        states[episode] = root_states[root]
        total = 0.0
        for m in range(members):
            total += root_weights[root, m]
        for m in range(members):
            beliefs[episode, m] = root_weights[root, m] / total


@kernel(allocates=True, divides_by_zero=True)
def act_on_vectors(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    discount: float,
    offsets: OffsetArray,
    vectors: FloatArray,
    states: IndexArray,
    hidden: IndexArray,
    beliefs: FloatArray,
    actions: IndexArray,
) -> None:
    """Choose the best action if each successor is worth its least vector.

    `losses` (S, A, M) and `offsets` (S + 1,) are those of the step; a successor without
    vectors is worth nothing.
    """
    n_actions, members = losses.shape[1:]
    weight = np.empty(members)
    for episode in range(states.size):
        if hidden[episode] == OVER:
            continue
        best = np.inf
        for action in range(n_actions):
            cost = 0.0
            for m in range(members):
                cost += beliefs[episode, m] * losses[states[episode], action, m]
            row = states[episode] * n_actions + action
            for k in range(indptr[row], indptr[row + 1]):
                if cost >= best:
                    break
                for m in range(members):
                    weight[m] = discount * beliefs[episode, m] * likelihood[k, m]
                least = np.inf
                for v in range(offsets[indices[k]], offsets[indices[k] + 1]):
                    dot = 0.0
                    for m in range(members):
                        dot += weight[m] * vectors[v, m]
                    least = min(least, dot)
                if least < np.inf:
                    cost += least
            if cost < best:
                best = cost
                actions[episode] = action


@kernel(allocates=True, divides_by_zero=True)
def act_on_mixtures(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    discount: float,
    values: FloatArray,
    state_offsets: OffsetArray,
    pair_first: IndexArray,
    pair_second: IndexArray,
    grid: int,
    node_offsets: OffsetArray,
    node_model: IndexArray,
    node_weight: FloatArray,
    states: IndexArray,
    hidden: IndexArray,
    beliefs: FloatArray,
    actions: IndexArray,
) -> None:
    """Choose the best action if each successor is worth only its lower bound.

    Where this leads, the bound is what keeps the value down: points help most there.
    """
    n_actions, members = losses.shape[1:]
    weight = np.empty(members)
    rows = np.empty((5, members))
    inverse = np.empty((members, members))
    basis = np.empty(members, np.int64)
    unknown = np.full(members, -1, np.int32)
    for episode in range(states.size):
        if hidden[episode] == OVER:
            continue
        best = np.inf
        for action in range(n_actions):
            cost = 0.0
            for m in range(members):
                cost += beliefs[episode, m] * losses[states[episode], action, m]
            row = states[episode] * n_actions + action
            for k in range(indptr[row], indptr[row + 1]):
                if cost >= best:
                    break
                total = 0.0
                for m in range(members):
                    weight[m] = beliefs[episode, m] * likelihood[k, m]
                    total += weight[m]
                if total <= 0.0:
                    continue
                for m in range(members):
                    weight[m] /= total
                cost += discount * total * best_mixture(
                    weight, state_offsets[indices[k]], state_offsets[indices[k] + 1],
                    pair_first, pair_second, grid, node_offsets, node_model,
                    node_weight, values, members, unknown, inverse, rows, basis,
                )  # fmt: skip
            if cost < best:
                best = cost
                actions[episode] = action


@kernel(divides_by_zero=True)
def live_one_step(
    h: int,
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    n_actions: int,
    wander: float,
    keys: AnyArray,
    states: IndexArray,
    hidden: IndexArray,
    beliefs: FloatArray,
    actions: IndexArray,
) -> None:
    """Play the action, or at times a random one, and move on to the next belief."""
    members = likelihood.shape[1]
    for episode in range(states.size):
        model = hidden[episode]
        if model == OVER:
            continue
        chance = uniform(keys[episode], 2 * h + 1)
        action = actions[episode]
        if chance < wander:
            action = min(int(chance / wander * n_actions), n_actions - 1)
        row = states[episode] * n_actions + action
        left = uniform(keys[episode], 2 * h + 2)
        taken = -1
        for k in range(indptr[row], indptr[row + 1]):
            if likelihood[k, model] > 0.0:
                if taken < 0 or left >= 0.0:
                    taken = k
                left -= likelihood[k, model]
        total = 0.0
        for m in range(members):
            beliefs[episode, m] *= likelihood[taken, m]
            total += beliefs[episode, m]
        largest = 0.0
        for m in range(members):
            beliefs[episode, m] /= total
            largest = max(largest, beliefs[episode, m])
        states[episode] = indices[taken]
        if largest > 1.0 - DECIDED:
            hidden[episode] = OVER


@kernel(allocates=True, divides_by_zero=True)
def keep_new(
    apart: float,
    states: IndexArray,
    hidden: IndexArray,
    beliefs: FloatArray,
    count: int,
    state_count: IndexArray,
    state_points: IndexArray,
    point_state: IndexArray,
    point_belief: FloatArray,
    point_shape: FloatArray,
) -> int:
    """Keep the beliefs that are not closer than `apart` to a point of their state.

    The distance is a sum of differences of logarithms, because near a corner small
    beliefs matter. `state_points` (S, room) lists points by state. Returns the number
    of points, at most the room for them.
    """
    members = beliefs.shape[1]
    shape = np.empty(members)
    for episode in range(states.size):
        state = states[episode]
        full = state_count[state] == state_points.shape[1]
        if hidden[episode] == OVER or full or count == point_state.size:
            continue
        for m in range(members):
            shape[m] = NEAR_CORNERS * np.log(beliefs[episode, m] + FLOOR)
        new = True
        for q in range(state_count[state]):
            distance = 0.0
            for m in range(members):
                distance += abs(point_shape[state_points[state, q], m] - shape[m])
            if distance < apart:
                new = False
                break
        if new:
            state_points[state, state_count[state]] = count
            state_count[state] += 1
            point_state[count] = state
            for m in range(members):
                point_belief[count, m] = beliefs[episode, m]
                point_shape[count, m] = shape[m]
            count += 1
    return count
