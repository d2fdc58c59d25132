"""Beliefs that are met when acting: the points at which the bounds are worked out."""

from __future__ import annotations

import numpy as np
from numba import njit

from simgap.arrays import FloatArray, IndexArray, OffsetArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
FLOOR = 0.003  # beliefs well below this are all alike
NEAR_CORNERS = 0.15  # the scale of distances between logarithms


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})  # type: ignore[untyped-decorator]
def meet_beliefs(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    horizon: int,
    vector_set: IndexArray,
    vector_offsets: OffsetArray,
    vectors: FloatArray,
    root_states: IndexArray,
    root_weights: FloatArray,
    episodes: int,
    first_episode: int,
    seed: int,
    wander: float,
    apart: float,
    known: int,
    count: int,
    state_count: IndexArray,
    state_points: IndexArray,
    point_state: IndexArray,
    point_belief: FloatArray,
    point_shape: FloatArray,
) -> int:
    """Add the beliefs met by a greedy policy that sometimes plays at random.

    A point is kept if no kept point of its state is closer than `apart`: the sum of
    differences of logarithms, because near a corner small beliefs matter. The first
    `known` points are there already. `state_points` (S, room) lists points by state.
    Returns the number of points; stops when there is no room.
    """
    steps, n_states, n_actions, members = losses.shape
    room = point_state.size
    belief = np.empty(members)
    weight = np.empty(members)
    shape = np.empty(members)
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
            counter += np.uint64(1)
            z = mixed + counter * GOLDEN
            z = (z ^ (z >> np.uint64(30))) * MIX_1
            z = (z ^ (z >> np.uint64(27))) * MIX_2
            u = float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
            action = 0
            if u < wander:
                action = min(int(u / wander * n_actions), n_actions - 1)
            else:
                best = np.inf
                used = vector_set[step + 1] if steps > 1 else vector_set[0]
                last = steps > 1 and h + 1 == horizon
                for a in range(n_actions):
                    cost = 0.0
                    for m in range(members):
                        cost += belief[m] * losses[step, state, a, m]
                    row = state * n_actions + a
                    if not last:
                        for k in range(indptr[row], indptr[row + 1]):
                            if cost >= best:
                                break
                            for m in range(members):
                                weight[m] = belief[m] * likelihood[k, m]
                            at = used * n_states + indices[k]
                            least = np.inf
                            for v in range(vector_offsets[at], vector_offsets[at + 1]):
                                dot = 0.0
                                for m in range(members):
                                    dot += weight[m] * vectors[v, m]
                                least = min(least, dot)
                            if least < np.inf:
                                cost += least
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
