"""The nodes of the lower side: pair faces on a grid of odds, and points.

Nodes of a state, in this order: for each pair of models the inner points of the grid,
then points at beliefs met in simulation. Each successor of a node is written as terms,
a mixture of nodes of the successor's state: two neighbours on a face, up to M for a
point.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from simgap._kernels.beliefs.oracle_lower_side import link_pair_faces
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.oracle.loss_form import LossForm

MOST_PAIR_STATES = 100_000  # pairs of models times states


@final
@dataclass(frozen=True, slots=True, eq=False)
class LowerStructure:
    """Nodes by state: pair faces first, then points; and terms of their successors."""

    pair_first: IndexArray
    pair_second: IndexArray
    grid: FloatArray  # (cells + 1,), odds of the second model
    state_offsets: OffsetArray  # (S + 1,)
    node_state: IndexArray
    node_offsets: OffsetArray  # sparse beliefs
    node_model: IndexArray
    node_weight: FloatArray
    row_offsets: OffsetArray  # (N + 1,), terms of a node
    terms_each: IndexArray  # (N,), terms per successor
    term_node: IndexArray
    term_weight: FloatArray

    def point_numbers(self) -> OffsetArray:
        """Return the numbers of the nodes that are points."""
        faces = self.pair_first.size * (self.grid.size - 2)
        places = np.arange(self.node_state.size) - self.state_offsets[self.node_state]
        return np.flatnonzero(places >= faces)


@final
@dataclass(frozen=True, slots=True, eq=False)
class LowerValues:
    """Lower bounds at the nodes, at some steps; step h uses `values[value_set[h]]`."""

    nodes: LowerStructure
    value_set: IndexArray  # (T + 1,)
    values: FloatArray  # (sets, N)
    effort: float  # about how many nanoseconds it took, counted and not measured


def pairs_of(form: LossForm) -> tuple[IndexArray, IndexArray]:
    """Return pairs i < j of models that can both be the real one.

    All of them if they are few; otherwise each model with some others, spread evenly.
    """
    likely = np.flatnonzero(form.latent.prior > 0.0).tolist()
    count, most = len(likely), _most_pairs(form, len(likely))
    if count * (count - 1) // 2 <= most:
        found = list(combinations(likely, 2))
    else:
        strides = np.unique(np.geomspace(1, count // 2, most // count).round())
        found = sorted(
            {
                (min(i, j), max(i, j))
                for stride in strides.astype(int).tolist()
                for i, j in zip(likely, likely[stride:] + likely[:stride], strict=True)
                if i != j
            }
        )
    table = np.array(found, np.int32).reshape(-1, 2)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def number_of_pairs(form: LossForm, count: int | None = None) -> int:
    """Return about how many pairs there are, of all likely models or of `count`."""
    if count is None:
        count = int((form.latent.prior > 0.0).sum())
    return min(count * (count - 1) // 2, _most_pairs(form, count))


def _most_pairs(form: LossForm, count: int) -> int:
    return max(count, MOST_PAIR_STATES // form.pattern.n_states)


def odds_grid(cells: int) -> FloatArray:
    """Return points from 0 to 1, denser towards both ends."""
    return np.asarray(np.sin(0.5 * np.pi * np.arange(cells + 1) / cells) ** 2)


def lower_structure(
    form: LossForm, states: IndexArray, beliefs: FloatArray, *, cells: int
) -> LowerStructure:
    """Return the nodes and the terms of the pair faces; points are not linked yet."""
    first, second = pairs_of(form)
    pattern, members = form.pattern, form.n_models
    grid = odds_grid(cells)
    face = first.size * (cells - 1)
    by_state = np.argsort(states, kind="stable")
    per_state = np.bincount(states, minlength=pattern.n_states)
    state_offsets = np.concatenate([[0], np.cumsum(face + per_state)]).astype(np.int64)
    node_state = np.repeat(
        np.arange(pattern.n_states, dtype=np.int32), face + per_state
    )
    local = np.arange(node_state.size) - state_offsets[node_state]
    on_face = local < face
    support = np.where(on_face, 2, members)
    node_offsets = np.concatenate([[0], np.cumsum(support)]).astype(np.int64)
    node_model = np.empty(node_offsets[-1], np.int32)
    node_weight = np.empty(node_offsets[-1])
    faces = node_offsets[:-1][on_face]
    pair, cell = np.divmod(local[on_face], cells - 1)
    node_model[faces], node_model[faces + 1] = first[pair], second[pair]
    node_weight[faces] = 1.0 - grid[cell + 1]
    node_weight[faces + 1] = grid[cell + 1]
    dense = node_offsets[:-1][~on_face][:, None] + np.arange(members)
    node_model[dense] = np.arange(members, dtype=np.int32)
    node_weight[dense] = beliefs[by_state]
    columns = np.diff(pattern.indptr[:: pattern.n_actions])  # successors of a state
    terms_each = np.where(on_face, 2, members).astype(np.int32)
    sizes = columns[node_state] * terms_each
    row_offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    term_node = np.repeat(np.arange(node_state.size, dtype=np.int32), sizes)
    term_weight = np.zeros(row_offsets[-1])
    made = LowerStructure(
        first, second, grid, state_offsets, node_state, node_offsets, node_model,
        node_weight, row_offsets, terms_each, term_node, term_weight,
    )  # fmt: skip
    for state in range(pattern.n_states):
        _link_faces(form, made, state)
    return made


def _link_faces(form: LossForm, made: LowerStructure, state: int) -> None:
    begin = made.row_offsets[made.state_offsets[state]]
    face = made.pair_first.size * (made.grid.size - 2)
    end = made.row_offsets[made.state_offsets[state] + face]
    link_pair_faces(
        state, form.pattern.indptr, form.pattern.indices, form.likelihood,
        form.pattern.n_actions, form.discount, made.pair_first, made.pair_second,
        made.grid, made.state_offsets, made.term_node[begin:end],
        made.term_weight[begin:end],
    )  # fmt: skip


def bytes_of_lower(form: LossForm, points: int, cells: int) -> float:
    """Return about how much memory the nodes and terms take."""
    pattern, members = form.pattern, form.n_models
    pairs, successors = pairs_of(form)[0].size, pattern.indices.size / pattern.n_states
    faces = pattern.n_states * pairs * (cells - 1)
    per_face = 2 * successors * 12 + 80
    per_point = members * successors * 12 + members * 12 + 80
    return faces * per_face + points * per_point
