"""The nodes of the upper side: corners, pairs and points, with ways to go on.

Nodes of a state, in this order: the M corners (follow the plan of one model), for each
pair of models levels of the log-odds between the two, and points at beliefs met in
simulation. New points go to the end of their state, so that a node keeps its place in
its state when the structure grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.beliefs import link_corners_and_pairs
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.bounded.lower_nodes import pairs_of
from simgap.oracle.bounded.points import BeliefPoints
from simgap.oracle.loss_form import LossForm

LOG_ODDS = 9.0  # levels of a pair lie between minus and plus this
CANDIDATES = 4
TIE_BREAK = 1e-5  # weight of the prior in the belief of a corner
HEDGE = 0.02  # the same in a point: a node serves many beliefs near its own


@final
@dataclass(frozen=True, slots=True, eq=False)
class UpperNodes:
    """Beliefs by which nodes choose, and candidates for their successors."""

    points: BeliefPoints
    state_offsets: OffsetArray  # (S + 1,)
    node_state: IndexArray  # (N,)
    beliefs: FloatArray  # (N, M)
    link_offsets: OffsetArray  # (N + 1,), one link per successor of each action
    links: IndexArray  # (links, CANDIDATES), -1 where there is none
    structured: int  # nodes per state that are corners or pairs

    @property
    def size(self) -> int:
        return int(self.node_state.size)

    def point_numbers(self) -> OffsetArray:
        """Return the numbers of the nodes that are points."""
        places = np.arange(self.size) - self.state_offsets[self.node_state]
        return np.flatnonzero(places >= self.structured)

    def local(self, nodes: AnyArray) -> AnyArray:
        """Return the places of nodes within their states."""
        return nodes - self.state_offsets[self.node_state[nodes]]


def bytes_of_upper(form: LossForm, points: int, levels: int) -> float:
    """Return about how much memory the nodes and one pass over them take."""
    pattern, members = form.pattern, form.n_models
    pairs = pairs_of(form)[0].size
    nodes = points + pattern.n_states * (members + pairs * levels)
    successors = pattern.indices.size / pattern.n_states
    longest = int(np.diff(pattern.indptr).max())
    per_node = 8 * 6 * members + 4 * CANDIDATES * successors + 40 + 8 * longest
    steps = form.horizon or 0
    visits = 4.0 * members * steps * min(nodes, 2 * points + 1000)
    rules = 20.0 * nodes * (4 + longest) * 4
    return nodes * per_node + rules + visits


def upper_nodes(form: LossForm, points: BeliefPoints, *, levels: int) -> UpperNodes:
    """Return the nodes, with the candidates of corners and pairs."""
    first, second = pairs_of(form)
    pattern, members, prior = form.pattern, form.n_models, form.latent.prior
    reach = min(LOG_ODDS, 1.2 * (levels - 1))
    odds = np.linspace(-reach, reach, levels)
    structured = members + first.size * levels
    by_state = np.argsort(points.states, kind="stable")
    sizes = structured + np.bincount(points.states, minlength=pattern.n_states)
    state_offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    node_state = np.repeat(np.arange(pattern.n_states, dtype=np.int32), sizes)
    local = np.arange(node_state.size) - state_offsets[node_state]
    inside = local < structured
    beliefs = np.empty((node_state.size, members))
    template = _corners_and_pairs(prior, first, second, odds)
    beliefs[inside] = template[local[inside]]
    beliefs[~inside] = (1.0 - HEDGE) * points.beliefs[by_state] + HEDGE * prior
    columns = np.diff(pattern.indptr[:: pattern.n_actions])  # successors of a state
    link_sizes = np.cumsum(columns[node_state])
    link_offsets = np.concatenate([[0], link_sizes]).astype(np.int64)
    links = np.full((link_offsets[-1], CANDIDATES), -1, np.int32)
    link_corners_and_pairs(
        pattern.indptr, pattern.indices, form.likelihood, pattern.n_actions, prior,
        first, second, odds, state_offsets, link_offsets, CANDIDATES, links,
    )  # fmt: skip
    return UpperNodes(
        points, state_offsets, node_state, beliefs, link_offsets, links, structured
    )


def _corners_and_pairs(
    prior: FloatArray, first: IndexArray, second: IndexArray, odds: FloatArray
) -> FloatArray:
    members = prior.size
    template = np.zeros((members + first.size * odds.size, members))
    template[:members] = (1.0 - TIE_BREAK) * np.eye(members) + TIE_BREAK * prior
    pair = np.repeat(np.arange(first.size), odds.size)
    share = np.tile(1.0 / (1.0 + np.exp(-odds)), first.size)
    rows = members + np.arange(pair.size)
    template[rows, first[pair]] = 1.0 - share
    template[rows, second[pair]] = share
    return template
