"""Beliefs met by a policy that believes in the lower bound: where it must rise."""

from __future__ import annotations

import numpy as np
from numba import njit

from simgap._kernels.belief_points import FLOOR, GOLDEN, MIX_1, MIX_2, NEAR_CORNERS
from simgap._kernels.envelope import best_mixture
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})  # type: ignore[untyped-decorator]
def meet_optimistic(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    horizon: int,
    discount: float,
    value_set: IndexArray,
    values: FloatArray,
    state_offsets: OffsetArray,
    pair_first: IndexArray,
    pair_second: IndexArray,
    grid: int,
    node_offsets: OffsetArray,
    node_model: IndexArray,
    node_weight: FloatArray,
    root_states: IndexArray,
    root_weights: FloatArray,
    episodes: int,
    first_episode: int,
    seed: int,
    apart: float,
    known: int,
    count: int,
    state_count: IndexArray,
    state_points: IndexArray,
    point_state: IndexArray,
    point_belief: FloatArray,
    point_shape: FloatArray,
) -> int:
    """Add the beliefs met by a policy that believes in the lower bound.

    Its actions look best if every successor is worth only its lower bound: where it
    goes, the bound is what keeps the value down, and more points help most.

    A point is kept if no kept point of its state is closer than `apart`: the sum of
    differences of logarithms, because near a corner small beliefs matter. The first
    `known` points are there already. `state_points` (S, room) lists points by state.
    Returns the number of points; stops when there is no room.
    """
    steps, _, n_actions, members = losses.shape
    room = point_state.size
    belief = np.empty(members)
    weight = np.empty(members)
    shape = np.empty(members)
    rows = np.empty((5, members))
    inverse = np.empty((members, members))
    basis = np.empty(members, np.int64)
    unknown = np.full(members, -1, np.int32)
    while count < known:  # points of an earlier call, entered again
        state = point_state[count]
        for m in range(members):
            point_shape[count, m] = NEAR_CORNERS * np.log(
                point_belief[count, m] + FLOOR
            )
        state_points[state, state_count[state]] = count
        state_count[state] += 1
        count += 1
    for episode in range(first_episode, first_episode + episodes):
        mixed = np.uint64(seed) * GOLDEN + np.uint64(episode) * MIX_1 + MIX_2
        counter = np.uint64(0)
        # the first state and the hidden model, from their joint law
        counter += np.uint64(1)
        z = mixed + counter * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * MIX_1
        z = (z ^ (z >> np.uint64(27))) * MIX_2
        u = float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
        hidden = -1
        root = 0
        for k in range(root_states.size):
            for m in range(members):
                share = root_weights[k, m]
                if share > 0.0:
                    if hidden < 0 or u >= 0.0:
                        hidden = m
                        root = k
                    u -= share
        state = root_states[root]
        total = 0.0
        for m in range(members):
            total += root_weights[root, m]
        for m in range(members):
            belief[m] = root_weights[root, m] / total
        for h in range(horizon):
            step = h if steps > 1 else 0
            # keep the point if it is new
            new = True
            for m in range(members):
                shape[m] = NEAR_CORNERS * np.log(belief[m] + FLOOR)
            for q in range(state_count[state]):
                other = point_shape[state_points[state, q]]
                distance = 0.0
                for m in range(members):
                    distance += abs(other[m] - shape[m])
                if distance < apart:
                    new = False
                    break
            if new:
                if count == room:
                    return count
                if state_count[state] < state_points.shape[1]:  # else: enough of it
                    state_points[state, state_count[state]] = count
                    state_count[state] += 1
                    point_state[count] = state
                    point_belief[count] = belief
                    point_shape[count] = shape
                    count += 1
            decided = 0.0
            for m in range(members):
                decided = max(decided, belief[m])
            if decided > 1.0 - 1e-7:
                break
            # act
            action = 0
            best = np.inf
            last = steps > 1 and h + 1 == horizon
            after = values[value_set[step + 1] if steps > 1 else 0]
            for a in range(n_actions):
                cost = 0.0
                for m in range(members):
                    cost += belief[m] * losses[step, state, a, m]
                row = state * n_actions + a
                if not last:
                    for k in range(indptr[row], indptr[row + 1]):
                        if cost >= best:
                            break
                        total = 0.0
                        for m in range(members):
                            weight[m] = belief[m] * likelihood[k, m]
                            total += weight[m]
                        if total <= 0.0:
                            continue
                        for m in range(members):
                            weight[m] /= total
                        cost += discount * total * best_mixture(
                            weight, state_offsets[indices[k]],
                            state_offsets[indices[k] + 1], pair_first, pair_second,
                            grid, node_offsets, node_model, node_weight, after,
                            members, unknown, inverse, rows, basis,
                        )  # fmt: skip
                if cost < best:
                    best = cost
                    action = a
            counter += np.uint64(1)
            z = mixed + counter * GOLDEN
            z = (z ^ (z >> np.uint64(30))) * MIX_1
            z = (z ^ (z >> np.uint64(27))) * MIX_2
            u = float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
            row = state * n_actions + action
            taken = -1
            for k in range(indptr[row], indptr[row + 1]):
                chance = likelihood[k, hidden]
                if chance > 0.0:
                    if taken < 0 or u >= 0.0:
                        taken = k
                    u -= chance
            total = 0.0
            for m in range(members):
                belief[m] *= likelihood[taken, m]
                total += belief[m]
            for m in range(members):
                belief[m] /= total
            state = indices[taken]
    return count
