"""Stationary policies over the nodes of a memory: their kernels and exact gaps."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.intervals import EPS
from simgap.oracle.baselines.windowed import MemoryNodes
from simgap.oracle.loss_form import LossForm

LARGEST_INVERSE = 2_000_000  # entries of N x N x M
STALLED = 20  # backups in a row that bring nothing: what is left is rounding


def policy_kernel(form: LossForm, nodes: MemoryNodes, policy: IndexArray) -> FloatArray:
    """Return P of a stationary policy over nodes in every model, (M, N, N)."""
    owner, into, columns = _moves(form, nodes, policy)
    kernel: FloatArray = np.zeros((form.n_models, nodes.size, nodes.size))
    kernel[:, owner, into] = form.likelihood[columns].T
    return kernel


def _moves(
    form: LossForm, nodes: MemoryNodes, policy: IndexArray
) -> tuple[OffsetArray, IndexArray, OffsetArray]:
    """Return from which node to which a policy moves, and by which column."""
    indptr = form.pattern.indptr
    rows = nodes.node_state.astype(np.int64) * form.pattern.n_actions + policy
    lengths = indptr[rows + 1] - indptr[rows]
    owner = np.repeat(np.arange(nodes.size), lengths)
    offset = np.arange(owner.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    columns = indptr[rows][owner] + offset
    return owner, nodes.next_node[nodes.shift[owner] + columns], columns


def stationary_gaps(
    form: LossForm, nodes: MemoryNodes, policy: IndexArray
) -> tuple[FloatArray, float]:
    """Return the discounted gaps (N, M) and what solving for them can be off by."""
    if inverse_fits(form, nodes.size):
        kernel = policy_kernel(form, nodes, policy)
        paid = form.losses[0, nodes.node_state, policy].T[:, :, None]  # (M, N, 1)
        system = np.eye(nodes.size) - form.discount * kernel
        found = np.linalg.solve(system, paid)
        gaps: FloatArray = np.ascontiguousarray(found[:, :, 0].T)
        residual = float(np.abs(paid - system @ found).max())
    else:
        gaps, residual = _by_sweeps(form, nodes, policy)
    residual += 4.0 * EPS * (1.0 + float(np.abs(gaps).max()))
    return gaps, residual / (1.0 - form.discount)


def inverse_fits(form: LossForm, size: int) -> bool:
    """Return whether M matrices over `size` nodes are small enough to invert."""
    return size * size * form.n_models <= LARGEST_INVERSE


def _by_sweeps(
    form: LossForm, nodes: MemoryNodes, policy: IndexArray
) -> tuple[FloatArray, float]:
    """Return gaps by repeated backups, and the largest change of the last one."""
    owner, into, columns = _moves(form, nodes, policy)
    shape = (nodes.size, nodes.size)
    chance = form.likelihood[columns]  # (moves, M)
    gaps: FloatArray = np.zeros((nodes.size, form.n_models))
    residual = 0.0
    for m in range(form.n_models):
        kernel = csr_array((chance[:, m], (owner, into)), shape=shape)
        paid = form.losses[0, nodes.node_state, policy, m]
        now, least, stalled = np.array(paid), np.inf, 0
        while stalled < STALLED:
            after = paid + form.discount * (kernel @ now)
            change = float(np.abs(after - now).max())
            stalled = stalled + 1 if change >= least else 0
            least, now = min(least, change), after
            if change <= EPS * float(now.max(initial=0.0)):
                break
        gaps[:, m] = now
        residual = max(residual, change)
    return gaps, residual


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
