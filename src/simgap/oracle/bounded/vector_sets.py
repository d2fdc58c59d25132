"""Which gap vectors a policy that tracks beliefs takes along."""

from __future__ import annotations

import numpy as np

from simgap._kernels.beliefs import best_vectors
from simgap.arrays import FloatArray, OffsetArray
from simgap.oracle.bounded.upper_graph import UpperPass
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets


def vector_sets(form: LossForm, made: UpperPass, most: int) -> VectorSets:
    """Return for each state up to `most` vectors, best at the beliefs of its nodes."""
    nodes, snapshots = made.nodes, made.snapshots
    n_states = form.pattern.n_states
    offsets, kept = [0], []
    remaining = sorted(snapshots)
    for left in remaining:
        vectors = snapshots[left]
        for state in range(n_states):
            block = slice(*nodes.state_offsets[state : state + 2])
            here = vectors[block]
            chosen = _useful(nodes.beliefs[block], here, nodes.structured, most)
            kept.append(here[chosen])
            offsets.append(offsets[-1] + chosen.size)
    to_go = form.steps - np.arange(form.steps + 1) if form.horizon is not None else [0]
    which = np.searchsorted(remaining, to_go, side="right") - 1
    if form.horizon is None:
        which = np.zeros(2, np.int64)
    joined = np.concatenate(kept) if kept else np.zeros((0, form.n_models))
    if not kept:
        offsets, which = [0] * (n_states + 1), np.zeros(form.steps + 1, np.int64)
    return VectorSets(
        np.maximum(which, 0).astype(np.int32), np.array(offsets, np.int64), joined
    )


def _useful(
    beliefs: FloatArray, vectors: FloatArray, structured: int, most: int
) -> OffsetArray:
    corners = beliefs.shape[1]  # the first ones: zero in their own model
    points = beliefs[structured:]
    sampled = 2 * most
    stride = max(1, -(-points.shape[0] // sampled))
    mixed = beliefs[: structured : max(1, structured // sampled)]
    asked = np.concatenate([points[::stride], mixed])
    best = np.empty(asked.shape[0], np.int64)
    best_vectors(asked, vectors, best)
    times = np.bincount(best, minlength=vectors.shape[0])
    useful = np.zeros(vectors.shape[0], bool)
    useful[np.argsort(-times, kind="stable")[:most]] = True
    useful &= times > 0
    useful[:corners] = True
    return np.flatnonzero(useful)
