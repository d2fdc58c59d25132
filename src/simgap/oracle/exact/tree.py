"""The tree of all beliefs that can occur, and the least loss at each of them.

Step by step, nodes with the same state, support and counts are one node, and so are
nodes that a permutation of exchangeable members (`Symmetry`) makes the same. A node at
which some plan loses nothing in any model of its support is not expanded: what follows
is that plan (`Supports.settled`), and a belief in one model is always of this kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from simgap._kernels.beliefs.belief_tree import (
    FULL,
    UNKNOWN_SUPPORT,
    UNKNOWN_SWAP,
    backward,
    expand,
    rehash,
)
from simgap._kernels.time_limit import check_time
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.exact.evidence import (
    Supports,
    relative_rounding,
    step_slack,
    tie_slack,
)
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import Outcome

CHUNK = 20_000  # nodes between two looks at the clock
SMALLEST_TABLE = 1024
PER_NODE = ("support", "state", "counts", "belief", "first_link")


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """How far the tree may grow."""

    nodes: int
    links: int
    lessons: float  # successors of supports looked up, each in Python
    memory: float  # bytes
    seconds: float
    clock: Callable[[], float]
    started: float

    def late(self) -> bool:
        return self.clock() - self.started > self.seconds


class DoesNotFit(Exception):
    """The tree met a limit; `outcome` says which one."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome


@final
@dataclass(slots=True, eq=False)
class BeliefTree:
    """Nodes of step h are `layers[h]` to `layers[h + 1]`."""

    form: LossForm
    supports: Supports
    limits: Limits
    layers: list[int] = field(default_factory=list)
    roots: IndexArray = field(init=False)  # (R,), links of the first states
    support: IndexArray = field(init=False)  # (N,)
    state: IndexArray = field(init=False)  # (N,)
    counts: AnyArray = field(init=False)  # (N, classes), integers as small as H allows
    belief: FloatArray = field(init=False)  # (N, K)
    first_link: OffsetArray = field(init=False)  # (N,)
    links: IndexArray = field(init=False)
    place: AnyArray = field(init=False)  # (links, K) if members are exchangeable
    used: OffsetArray = field(init=False)  # nodes, links
    largest_bytes: int = 0
    _lessons: int = 0
    _table: IndexArray = field(init=False)
    _odd: AnyArray = field(init=False)

    def __post_init__(self) -> None:
        steps = self.form.steps
        kind = np.int8 if steps < 2**7 else np.int16 if steps < 2**15 else np.int32
        self.support = np.empty(0, np.int32)
        self.state = np.empty(0, np.int32)
        self.counts = np.empty((0, self.supports.classes), kind)
        self.belief = np.empty((0, len(self.supports.members.models)))
        self.first_link = np.empty(0, np.int64)
        self.links = np.empty(0, np.int32)
        self.place = np.empty((0, self.belief.shape[1]), np.int16)
        self.used = np.zeros(2, np.int64)
        self._odd = np.empty(0, np.uint64)
        self._table = np.full(SMALLEST_TABLE, -1, np.int32)

    @property
    def size(self) -> int:
        return int(self.used[0])

    @property
    def nbytes(self) -> int:
        per_node = sum(getattr(self, name).nbytes for name in PER_NODE)
        kept = per_node + self.links.nbytes + self.place.nbytes + self._table.nbytes
        return int(kept) + self.supports.nbytes

    def grow(self) -> None:
        """Add every node that any policy can reach, or raise `DoesNotFit`."""
        self._plant()
        for h in range(self.form.steps):
            check_time()
            begin = self.layers[-1]
            self.layers.append(self.size)
            if self.size > self.limits.nodes:
                raise DoesNotFit(Outcome.OUT_OF_NODES)
            if h + 1 < self.form.steps:
                self._expand_layer(h, begin, self.size)
        self.largest_bytes = max(self.largest_bytes, self.nbytes)

    def _plant(self) -> None:
        """Make the nodes of the first step."""
        form, supports = self.form, self.supports
        weights = supports.members.roots
        self.layers.append(0)
        self.roots = np.empty(form.root_states.size, np.int32)
        self._make_room(form.root_states.size, 0, 0)
        for i, (s, weight) in enumerate(zip(form.root_states, weights, strict=True)):
            support = supports.of(weight)
            self._widen()
            if form.steps == 0 or supports.settled[support, 0, s] >= 0:
                self.roots[i] = -2 - support
                continue
            node = self.size
            self.roots[i] = node
            self.support[node], self.state[node] = support, s
            self.counts[node] = 0
            self.belief[node] = weight / weight.sum()
            self.used[0] += 1

    def _expand_layer(self, h: int, begin: int, end: int) -> None:
        pattern, node = self.form.pattern, begin
        supports, symmetry = self.supports, self.supports.symmetry
        if self._table.size > 16 * (end - begin) + SMALLEST_TABLE:
            self._table = np.empty(SMALLEST_TABLE, np.int32)
        self._table[:] = -1
        while node < end:
            reason, node, entry, which = expand(
                pattern.indptr, pattern.indices, supports.members.likelihood,
                pattern.n_actions, supports.pattern_of, supports.share,
                supports.next_support, supports.code, supports.example,
                supports.settled, symmetry.orbit, symmetry.pair,
                symmetry.column_swap, supports.swap_support, self._odd, h, node,
                min(end, node + CHUNK), end, self.support, self.state, self.counts,
                self.belief, self.first_link, self.links, self.place, self._table,
                self.used,
            )  # fmt: skip
            if reason == UNKNOWN_SUPPORT:
                self._learn(supports.learn, entry, which)
            elif reason == UNKNOWN_SWAP:
                self._learn(supports.learn_swap, entry, which)
            elif reason == FULL:
                row = int(self.state[node]) * pattern.n_actions
                columns = pattern.indptr[row + pattern.n_actions] - pattern.indptr[row]
                self._make_room(int(columns), int(columns), end)
            if self.limits.late():
                raise DoesNotFit(Outcome.OUT_OF_TIME)
            if self.size > self.limits.nodes:
                raise DoesNotFit(Outcome.OUT_OF_NODES)

    def _learn(
        self, lesson: Callable[[int, int], None], entry: int, which: int
    ) -> None:
        self.reserve(self.supports.nbytes)  # tables grow by doubling
        lesson(entry, which)
        self._widen()
        self._lessons += 1
        if self._lessons > self.limits.lessons:
            raise DoesNotFit(Outcome.OUT_OF_NODES)

    def _make_room(self, more_nodes: int, more_links: int, layer: int) -> None:
        """Make room for more nodes and links, and for hashing a layer."""
        nodes, links = self.size + more_nodes, int(self.used[1]) + more_links
        if links > self.limits.links:
            raise DoesNotFit(Outcome.OUT_OF_NODES)
        if nodes > self.state.size:
            room = max(1024, 2 * nodes)
            ratio = room / max(1, self.state.size)
            held = sum(getattr(self, name).nbytes for name in PER_NODE)
            self.reserve(int(ratio * held))
            for name in PER_NODE:
                setattr(self, name, _longer(getattr(self, name), room, self.size))
        if links > self.links.size:
            room = max(4096, 2 * links)
            width = self.place.shape[1] if self.supports.symmetry.found else 0
            self.reserve((4 + 2 * width) * room)
            self.links = _longer(self.links, room, int(self.used[1]))
            if width:
                self.place = _longer(self.place, room, int(self.used[1]))
        if 2 * (nodes - layer) > self._table.size:
            room = self._table.size
            while room < 4 * (nodes - layer):
                room *= 2
            self.reserve(4 * room)
            self._table = np.full(room, -1, np.int32)
            rehash(
                self._odd, self.form.pattern.n_states, layer, self.size, self.support,
                self.state, self.counts, self._table,
            )  # fmt: skip

    def _widen(self) -> None:
        """Give counts a column for every class; old nodes have seen none of them."""
        classes = self.supports.classes
        if classes > self.counts.shape[1]:
            self.reserve(self.counts.itemsize * len(self.counts) * classes)
            wider = np.zeros((len(self.counts), classes), self.counts.dtype)
            wider[:, : self.counts.shape[1]] = self.counts
            self.counts = wider
        if classes > self._odd.size:
            self._odd = _multipliers(classes)

    def reserve(self, more: int) -> None:
        """Raise before another `more` bytes are taken, if they are too many."""
        wanted = self.nbytes + more
        self.largest_bytes = max(self.largest_bytes, wanted)
        if wanted > self.limits.memory:
            raise DoesNotFit(Outcome.OUT_OF_MEMORY)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TreeValues:
    """G, an optimal action and all optimal actions at every node."""

    value: FloatArray  # (N,)
    action: IndexArray  # (N,), the lowest of the optimal ones
    tied: AnyArray  # (N, A), whether an action is optimal, up to rounding
    uncertain: int  # actions that are optimal up to rounding only


def solve_tree(tree: BeliefTree) -> TreeValues:
    """Return the least expected loss from every node on, or raise `DoesNotFit`."""
    form, members = tree.form, tree.supports.members
    n_actions = form.pattern.n_actions
    value, action = np.empty(tree.size), np.empty(tree.size, np.int32)
    tied = np.zeros((tree.size, n_actions), np.bool_)
    uncertain = 0
    for h in range(form.steps - 1, -1, -1):
        if tree.limits.late():
            raise DoesNotFit(Outcome.OUT_OF_TIME)
        uncertain += backward(
            form.pattern.indptr, members.likelihood, members.losses[h],
            h + 1 == form.steps, tie_slack(form), step_slack(form),
            4.0 * (form.steps - h) * relative_rounding(form),
            tree.layers[h], tree.layers[h + 1], tree.state, tree.belief,
            tree.first_link, tree.links, value, action, tied,
        )  # fmt: skip
    return TreeValues(value, action, tied, uncertain)


def _multipliers(classes: int) -> AnyArray:
    """Return one odd number per class; more classes leave the first ones as is."""
    x = np.arange(1, classes + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    odd: AnyArray = (x ^ (x >> np.uint64(27))) | np.uint64(1)
    return odd


def _longer(array: Any, room: int, used: int) -> Any:
    new = np.empty((room, *array.shape[1:]), array.dtype)
    new[:used] = array[:used]
    return new
