"""Stationary policies over the nodes of a memory: their kernels and exact gaps."""

from __future__ import annotations

import numpy as np

from simgap.arrays import BoolArray, FloatArray, IndexArray
from simgap.oracle.loss_form import EPS, LossForm
from simgap.oracle.windowed import MemoryNodes


def policy_kernel(form: LossForm, nodes: MemoryNodes, policy: IndexArray) -> FloatArray:
    """Return P of a stationary policy over nodes in every model, (M, N, N)."""
    indptr = form.pattern.indptr
    rows = nodes.node_state.astype(np.int64) * form.pattern.n_actions + policy
    lengths = indptr[rows + 1] - indptr[rows]
    owner = np.repeat(np.arange(nodes.size), lengths)
    offset = np.arange(owner.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    columns = indptr[rows][owner] + offset
    into = nodes.next_node[nodes.shift[owner] + columns]
    kernel: FloatArray = np.zeros((form.n_models, nodes.size, nodes.size))
    kernel[:, owner, into] = form.likelihood[columns].T
    return kernel


def stationary_gaps(
    form: LossForm, nodes: MemoryNodes, policy: IndexArray
) -> tuple[FloatArray, float]:
    """Return the discounted gaps (N, M) and what solving for them can be off by."""
    kernel = policy_kernel(form, nodes, policy)
    paid = form.losses[0, nodes.node_state, policy].T[:, :, None]  # (M, N, 1)
    system = np.eye(nodes.size) - form.discount * kernel
    gaps = np.linalg.solve(system, paid)
    residual = np.abs(paid - system @ gaps).max(initial=0.0)
    residual += 4.0 * EPS * (1.0 + np.abs(gaps).max(initial=0.0))
    slip = float(residual) / (1.0 - form.discount)
    return np.ascontiguousarray(gaps[:, :, 0].T), slip


def reachable_nodes(form: LossForm, nodes: MemoryNodes) -> BoolArray:
    """Return which nodes some policy reaches in some model, (N,)."""
    indptr, n_actions = form.pattern.indptr, form.pattern.n_actions
    reached = np.zeros(nodes.size, bool)
    pending = [int(s) for s in form.root_states]
    reached[pending] = True
    while pending:
        node = pending.pop()
        state = int(nodes.node_state[node])
        for k in range(indptr[state * n_actions], indptr[(state + 1) * n_actions]):
            after = int(nodes.next_node[nodes.shift[node] + k])
            if not reached[after] and form.likelihood[k].any():
                reached[after] = True
                pending.append(after)
    return reached
