"""Gaps in every model, on the tree of beliefs and on the plans that end it.

Plans: (support, state) plays `settled[support, h, state]` at step h, a Markov plan that
is optimal in every model of the support, and goes to support `plan_next[support, k]`
after column k. Vectors hold one number per model of the class, also of zero prior.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IndexArray,
    OffsetArray,
)


@kernel
def settle(
    indptr: OffsetArray,
    indices: IndexArray,
    losses: FloatArray,
    members: IndexArray,
    left: IndexArray,
    slack: float,
    out: AnyArray,
) -> None:
    """Write the lowest action that loses nothing in all `members`, or -1; out (T, S).

    `left[k]` is how many members allow column k; with one left nothing is lost later.
    """
    steps, n_states, n_actions = losses.shape[:3]
    for h in range(steps - 1, -1, -1):
        for s in range(n_states):
            out[h, s] = -1
            for a in range(n_actions):
                fine = True
                for m in members:
                    if losses[h, s, a, m] > slack:
                        fine = False
                        break
                if fine and h + 1 < steps:
                    row = s * n_actions + a
                    for k in range(indptr[row], indptr[row + 1]):
                        if left[k] > 1 and out[h + 1, indices[k]] < 0:
                            fine = False
                            break
                if fine:
                    out[h, s] = a
                    break


@kernel
def plan_vectors(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    actions: AnyArray,
    plan_next: IndexArray,
    after: FloatArray,
    now: FloatArray,
) -> None:
    """Write the gaps of every plan from one step on; now, after (supports, S, M)."""
    n_actions, n_models = losses.shape[1], losses.shape[2]
    for support in range(now.shape[0]):
        for s in range(now.shape[1]):
            a = actions[support, s]
            into = now[support, s]
            if a < 0:
                into[:] = np.nan  # never used: a plan stays where it is settled
                continue
            copy_vector(losses[s, a], into)
            row = s * n_actions + a
            for k in range(indptr[row], indptr[row + 1]):
                there = plan_next[support, k]
                if there >= 0:
                    then = after[there, indices[k]]
                    for m in range(n_models):
                        if likelihood[k, m] > 0.0:
                            into[m] += likelihood[k, m] * then[m]


@kernel
def tree_vectors(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    last: bool,
    corner: IndexArray,
    begin: int,
    end: int,
    next_begin: int,
    state: IndexArray,
    action: IndexArray,
    first_link: OffsetArray,
    links: IndexArray,
    place: AnyArray,
    plans_after: FloatArray,
    after: FloatArray,
    now: FloatArray,
) -> None:
    """Write the gaps of the chosen policy from nodes of one step on, in every model.

    Where no model of positive prior leads, it follows the plan of `corner[k]`.
    """
    n_actions, n_models = losses.shape[1], losses.shape[2]
    moved = place.shape[0] > 0
    for node in range(begin, end):
        s, a = state[node], action[node]
        into = now[node - begin]
        copy_vector(losses[s, a], into)
        if last:
            continue
        row, base = s * n_actions + a, indptr[s * n_actions]
        for k in range(indptr[row], indptr[row + 1]):
            at = first_link[node] + k - base
            child = links[at]
            if child == -1:
                child = -2 - corner[k]
                if corner[k] < 0:
                    continue
            for m in range(n_models):
                p = likelihood[k, m]
                if p > 0.0:
                    if child >= 0:
                        there = place[at, m] if moved else m
                        into[m] += p * after[child - next_begin, there]
                    else:
                        into[m] += p * plans_after[-2 - child, indices[k], m]


@kernel
def tree_ends(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    last: bool,
    begin: int,
    end: int,
    next_begin: int,
    state: IndexArray,
    tied: AnyArray,
    first_link: OffsetArray,
    links: IndexArray,
    place: AnyArray,
    most: FloatArray,
    after: FloatArray,
    now: FloatArray,
) -> None:
    """Write the least and largest gap over optimal policies; now is (nodes, M, 2).

    Off the tree the gap of a model is 0 at least and `most` (S, M) at most: 0 for
    models of positive prior, which are settled there or cannot be there.
    """
    n_actions, n_models = losses.shape[1], losses.shape[2]
    moved = place.shape[0] > 0
    for node in range(begin, end):
        s = state[node]
        base = indptr[s * n_actions]
        into = now[node - begin]
        for m in range(n_models):
            into[m, 0], into[m, 1] = np.inf, 0.0
        for a in range(n_actions):
            if not tied[node, a]:
                continue
            row = s * n_actions + a
            for m in range(n_models):
                low = high = losses[s, a, m]
                if not last:
                    for k in range(indptr[row], indptr[row + 1]):
                        p = likelihood[k, m]
                        if p > 0.0:
                            at = first_link[node] + k - base
                            child = links[at]
                            if child >= 0:
                                there = place[at, m] if moved else m
                                low += p * after[child - next_begin, there, 0]
                                high += p * after[child - next_begin, there, 1]
                            else:
                                high += p * most[indices[k], m]
                into[m, 0] = min(into[m, 0], low)
                into[m, 1] = max(into[m, 1], high)


@kernel
def largest_losses(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    models: IndexArray,
    after: FloatArray,
    now: FloatArray,
) -> None:
    """Write the largest sum of losses of any policy in some `models`; now (S, M)."""
    n_actions = losses.shape[1]
    now[:] = 0.0
    for s in range(now.shape[0]):
        for a in range(n_actions):
            row = s * n_actions + a
            for m in models:
                total = losses[s, a, m]
                for k in range(indptr[row], indptr[row + 1]):
                    total += likelihood[k, m] * after[indices[k], m]
                now[s, m] = max(now[s, m], total)


@kernel
def reach(
    indptr: OffsetArray,
    likelihood: FloatArray,
    n_actions: int,
    begin: int,
    end: int,
    state: IndexArray,
    belief: FloatArray,
    action: IndexArray,
    first_link: OffsetArray,
    links: IndexArray,
    chance: FloatArray,
    on_path: BoolArray,
) -> None:
    """Add to the successors of one step how likely the chosen policy gets there."""
    for node in range(begin, end):
        if not on_path[node]:
            continue
        s = state[node]
        row, base = s * n_actions + action[node], indptr[s * n_actions]
        for k in range(indptr[row], indptr[row + 1]):
            child = links[first_link[node] + k - base]
            if child >= 0:
                mass = 0.0
                for m in range(likelihood.shape[1]):
                    mass += belief[node, m] * likelihood[k, m]
                chance[child] += chance[node] * mass
                on_path[child] = True
