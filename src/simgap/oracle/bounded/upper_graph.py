"""The policy graph of the upper side: nodes, rules, passes, visits and vectors.

The nodes of the upper side: corners, pairs and points, with ways to go on.

Nodes of a state, in this order: the M corners (follow the plan of one model), for each
pair of models levels of the log-odds between the two, and points at beliefs met in
simulation. New points go to the end of their state, so that a node keeps its place in
its state when the structure grows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from typing import final

import numpy as np

from simgap._kernels.beliefs.oracle_upper_side import (
    best_vectors,
    occupancy_step,
    reach_nodes,
)
from simgap._kernels.beliefs.policy_graph_links import link_corners_and_pairs
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.bounded.lower_nodes import pairs_of
from simgap.oracle.bounded.points import BeliefPoints
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets
from simgap.policies import NOWHERE, GraphPolicy

LATER = 0.1  # what the steps after the planned ones weigh, with a discount
MOST_PLANNED = 400

Visits = list[tuple[IndexArray, FloatArray, FloatArray]]  # nodes, beliefs, chances
MOST_BYTES = 4e8
UNSEEN = 1e-8  # nodes visited with less weight than this choose by their own belief
NAME = "oracle"
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


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What each node does at which steps: the rules of a node by increasing `until`."""

    offsets: OffsetArray  # (N + 1,)
    until: IndexArray  # (R,)
    actions: IndexArray  # (R,)
    successors: IndexArray  # (R, longest row)

    def moved(self, old: UpperNodes, new: UpperNodes) -> Rules:
        """Return the same rules for the same nodes of a larger structure."""
        nodes = np.repeat(np.arange(old.size), np.diff(self.offsets))
        counts = np.bincount(place(nodes, old, new), minlength=new.size)
        return Rules(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            self.until,
            self.actions,
            place(self.successors, old, new).astype(np.int32),
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class UpperPass:
    """One graph with its vectors at the first step."""

    nodes: UpperNodes
    vectors: FloatArray  # (N, M)
    rules: Rules
    upper: float
    loose: float  # how far vectors may lie below the gaps of the rules
    roots: IndexArray  # (K,), the node taken in each root state
    snapshots: dict[int, FloatArray]  # vectors with so many steps to go
    effort: float  # about how many nanoseconds it took, counted and not measured


def planned_steps(form: LossForm) -> int:
    """Return how many first steps have choices of their own."""
    if form.horizon is not None:
        return form.horizon
    return min(ceil(log(LATER) / log(form.discount)), MOST_PLANNED)


def settling_steps(form: LossForm) -> int:
    """Return how many backward steps choose a stationary graph."""
    return min(ceil(1.5 / (1.0 - form.discount)), MOST_PLANNED // 2)


def place(nodes: AnyArray, old: UpperNodes, new: UpperNodes) -> AnyArray:
    """Return where nodes are in a larger structure."""
    moved: AnyArray = new.state_offsets[old.node_state[nodes]] + old.local(nodes)
    return moved


def visits_of(
    form: LossForm, made: UpperPass, room: float, keep_going: Callable[[], None]
) -> Visits | None:
    """Return, step by step, the nodes the graph visits with the weights of models.

    None if that takes more than `room` bytes.
    """
    nodes, rules = made.nodes, made.rules
    here = np.zeros((nodes.size, form.n_models))
    there = np.zeros_like(here)
    current, reached = np.empty(nodes.size, np.int32), np.empty(nodes.size, np.int32)
    for node, weights in zip(made.roots, form.root_weights, strict=True):
        here[node] += weights
    count = made.roots.size
    current[:count] = made.roots
    mark = np.full(nodes.size, -1, np.int32)
    rule_of = rules.offsets[:-1].copy()
    found: Visits = []
    room = min(room, MOST_BYTES)
    for h in range(planned_steps(form)):
        which = current[:count].copy()
        total = here[which].sum(axis=1)
        seen = total > UNSEEN
        which, total = which[seen], total[seen]
        weights = (here[which] / total[:, None]).astype(np.float32)
        found.append((which, weights, total.astype(np.float32)))
        room -= weights.nbytes + 2 * which.nbytes
        if room < 0.0:
            return None
        count = occupancy_step(
            h, form.pattern.indptr, form.likelihood, form.pattern.n_actions,
            nodes.node_state, rules.until, rules.actions, rules.successors, rule_of,
            rules.offsets[1:], here, current, count, there, reached, mark,
        )  # fmt: skip
        here, there, current, reached = there, here, reached, current
        keep_going()
    return found


def moved_visits(visits: Visits, old: UpperNodes, new: UpperNodes) -> Visits:
    """Return the same visits to the same nodes of a larger structure."""
    return [
        (place(which, old, new), beliefs, chances) for which, beliefs, chances in visits
    ]


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


def policy_graph(form: LossForm, made: UpperPass) -> GraphPolicy:
    """Return the graph of a pass, without nodes that no episode visits."""
    pattern, rules, nodes = form.pattern, made.rules, made.nodes
    start_node = np.full(pattern.n_states, NOWHERE, np.int32)
    start_node[form.root_states] = made.roots
    _start_everywhere(form, made, start_node)
    used = np.zeros(nodes.size, np.bool_)
    reach_nodes(
        pattern.indptr, pattern.n_actions, nodes.node_state, rules.offsets,
        rules.actions, rules.successors, start_node[start_node >= 0], used,
    )  # fmt: skip
    number = np.cumsum(used, dtype=np.int32) - 1
    kept = np.repeat(used, np.diff(rules.offsets))
    counts = np.diff(rules.offsets)[used]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    until, actions = rules.until[kept], rules.actions[kept]
    rows = np.repeat(nodes.node_state[used].astype(np.int64), counts)
    widths = np.diff(pattern.indptr)[rows * pattern.n_actions + actions]
    columns = np.arange(rules.successors.shape[1]) < widths[:, None]
    return GraphPolicy(
        name=NAME,
        pattern=pattern,
        horizon=form.horizon,
        node_state=nodes.node_state[used],
        start_node=np.where(start_node >= 0, number[start_node], NOWHERE),
        rule_offsets=offsets,
        rule_since=_since(offsets, until),
        rule_until=until,
        rule_action=actions,
        next_offsets=np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        next_node=number[rules.successors[kept][columns]],
    )


def _since(offsets: OffsetArray, until: IndexArray) -> IndexArray:
    """Return the first step of each rule: one after the last of the rule before."""
    since = np.zeros(until.size, np.int32)
    since[1:] = until[:-1] + 1
    since[offsets[:-1][np.diff(offsets) > 0]] = 0
    return since


def _start_everywhere(form: LossForm, made: UpperPass, start_node: IndexArray) -> None:
    """Let models of prior zero begin where only they can, as their own corner."""
    simulators = form.latent.simulators
    for member in np.flatnonzero(form.latent.prior == 0.0):
        for state in np.flatnonzero(simulators.start_law(int(member))):
            if start_node[state] < 0:
                start_node[state] = made.nodes.state_offsets[state] + member
