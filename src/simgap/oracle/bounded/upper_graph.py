"""Records of the upper side: rules of nodes, one pass over them, visits to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from typing import final

import numpy as np

from simgap._kernels.beliefs import best_vectors, occupancy_step, reach_nodes
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.bounded.upper_nodes import UpperNodes
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets
from simgap.policies import NOWHERE, GraphPolicy

LATER = 0.1  # what the steps after the planned ones weigh, with a discount
MOST_PLANNED = 400

Visits = list[tuple[IndexArray, FloatArray, FloatArray]]  # nodes, beliefs, chances
MOST_BYTES = 4e8
UNSEEN = 1e-8  # nodes visited with less weight than this choose by their own belief
NAME = "oracle"


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
