"""Beliefs met in simulation, the points at which both sides of the bracket work.

Beliefs on a lattice, the points of the grid solver: two or three models only.

Weights are proportional to the cubes of (k_1, ..., k_M) / r with sum k = r: dense near
the corners, where small beliefs matter. Doubling r keeps all points, so that a larger
lattice begins with the smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import final

import numpy as np

from simgap._kernels.beliefs.belief_points import (
    OVER,
    act_on_mixtures,
    act_on_vectors,
    begin_episodes,
    keep_new,
    live_one_step,
)
from simgap._kernels.walking.streams import episode_keys
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.bounded.lower_nodes import LowerValues
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets

WANDER = 0.1  # how often the simulated agent plays at random
LONGEST = 400  # steps of a simulated episode with a discount
FAR_APART = 0.06  # per model, in the distance of the kernels; less when too few
# halved: 1.060, 2.731, 1.001; doubled: 1.062, 2.863, 1.009 (see `planner`)
CLOSEST = 0.002
BATCH = 32  # episodes between two looks
QUIET = 2.0  # points per episode, below which points must lie closer
FINEST = 1024  # per side, for two models
FINEST_OF_THREE = 128


@final
@dataclass(frozen=True, slots=True, eq=False)
class BeliefPoints:
    """States and posteriors, in the order in which they were met."""

    states: IndexArray  # (N,)
    beliefs: FloatArray  # (N, M)

    def first(self, count: int) -> BeliefPoints:
        """Return the points met first."""
        return BeliefPoints(self.states[:count], self.beliefs[:count])

    @property
    def size(self) -> int:
        return int(self.states.size)


@final
@dataclass(slots=True, eq=False)
class PointSource:
    """Points so far, and how to meet more of them."""

    form: LossForm
    seed: int
    points: BeliefPoints
    apart: float
    episode: int = 0

    @staticmethod
    def at_root(form: LossForm, seed: int) -> PointSource:
        """Return a source that has only met the start of episodes."""
        weights = form.root_weights
        beliefs = weights / weights.sum(axis=1, keepdims=True)
        first = BeliefPoints(form.root_states.copy(), beliefs)
        return PointSource(form, seed, first, FAR_APART * form.n_models)

    def grow(
        self,
        count: int,
        guide: VectorSets | LowerValues,
        keep_going: Callable[[], None] = lambda: None,
    ) -> BeliefPoints:
        """Return `count` points, or fewer if no more are met, the old ones first.

        The guide says how episodes are played: greedily on gap vectors, or as if the
        lower bound were true.
        """
        self.apart = max(self.apart, CLOSEST)  # another guide may meet other beliefs
        while self.points.size < count and self.apart >= CLOSEST:
            self._meet(count, guide, keep_going)
            if self.points.size < count:
                self.apart *= 0.6
        return self.points.first(count)

    def _meet(
        self,
        count: int,
        guide: VectorSets | LowerValues,
        keep_going: Callable[[], None],
    ) -> None:
        """Run episodes until there are `count` points or they bring too few."""
        book, old = _Book.of(self.form, count, self.points), self.points.size
        quiet = 0
        while book.count < count and quiet < 2:
            before = book.count
            keys = episode_keys(self.seed, self.episode, BATCH)
            straight = self.episode // BATCH % 2 == 0  # and every other batch wanders
            wander = 0.0 if straight else WANDER
            episodes = _Episodes(self.form, keys)
            episodes.run(guide, book, self.apart, wander, keep_going)
            self.episode += BATCH
            few = book.count - before < QUIET * BATCH
            quiet = quiet + 1 if few else 0
            self.points = book.points(max(book.count, old))
            keep_going()


@final
@dataclass(slots=True, eq=False)
class _Book:
    """Points by number and by state, with room for more."""

    count: int
    state_count: IndexArray
    state_points: IndexArray
    states: IndexArray
    beliefs: FloatArray
    shapes: FloatArray

    @staticmethod
    def of(form: LossForm, room: int, known: BeliefPoints) -> _Book:
        n_states, members = form.pattern.n_states, form.n_models
        fullest = int(np.bincount(known.states).max())
        most = min(room, max(int(2.0 * room / n_states) + 64, fullest))
        book = _Book(
            0,
            np.zeros(n_states, np.int32),
            np.zeros((n_states, most), np.int32),
            np.zeros(room, np.int32),
            np.zeros((room, members)),
            np.zeros((room, members)),
        )
        inside = np.zeros(known.size, np.int32)
        book.keep(0.0, known.states, inside, known.beliefs)  # all of them, in order
        return book

    def keep(
        self, apart: float, states: IndexArray, hidden: IndexArray, beliefs: FloatArray
    ) -> None:
        self.count = keep_new(
            apart, states, hidden, beliefs, self.count, self.state_count,
            self.state_points, self.states, self.beliefs, self.shapes,
        )  # fmt: skip

    def points(self, count: int) -> BeliefPoints:
        return BeliefPoints(self.states[:count].copy(), self.beliefs[:count].copy())


class _Episodes:
    """Episodes side by side, in models drawn from the prior."""

    def __init__(self, form: LossForm, keys: AnyArray) -> None:
        self.form, self.keys = form, keys
        self.states = np.zeros(keys.size, np.int32)
        self.hidden = np.zeros(keys.size, np.int32)
        self.beliefs = np.zeros((keys.size, form.n_models))
        self.actions = np.zeros(keys.size, np.int32)

    def run(
        self,
        guide: VectorSets | LowerValues,
        book: _Book,
        apart: float,
        wander: float,
        keep_going: Callable[[], None],
    ) -> None:
        form, pattern = self.form, self.form.pattern
        lived = (self.states, self.hidden, self.beliefs)
        begin_episodes(form.root_states, form.root_weights, self.keys, *lived)
        steps = form.horizon
        if steps is None:
            steps = min(ceil(3.0 / (1.0 - form.discount)), LONGEST)
        for h in range(steps):
            book.keep(apart, *lived)
            self._act(guide, h)
            live_one_step(
                h, pattern.indptr, pattern.indices, form.likelihood, pattern.n_actions,
                wander, self.keys, *lived, self.actions,
            )  # fmt: skip
            if (self.hidden == OVER).all():
                break
            keep_going()

    def _act(self, guide: VectorSets | LowerValues, h: int) -> None:
        form, pattern, finite = self.form, self.form.pattern, self.form.horizon
        step, after = (h, h + 1) if finite is not None else (0, 0)
        world = (
            pattern.indptr, pattern.indices, form.likelihood, form.losses[step],
            form.discount,
        )  # fmt: skip
        lived = (self.states, self.hidden, self.beliefs, self.actions)
        if isinstance(guide, VectorSets):
            first = guide.vector_set[after] * pattern.n_states
            offsets = guide.vector_offsets[first : first + pattern.n_states + 1]
            if finite is not None and after == finite:
                offsets = np.zeros_like(offsets)
            act_on_vectors(*world, offsets, guide.vectors, *lived)
            return
        nodes, values = guide.nodes, guide.values[guide.value_set[after]]
        if finite is not None and after == finite:
            values = np.zeros_like(values)
        act_on_mixtures(
            *world, values, nodes.state_offsets, nodes.pair_first, nodes.pair_second,
            nodes.grid.size - 2, nodes.node_offsets, nodes.node_model,
            nodes.node_weight, *lived,
        )  # fmt: skip


def no_points(form: LossForm) -> BeliefPoints:
    """Return no points at all."""
    return BeliefPoints(np.zeros(0, np.int32), np.zeros((0, form.n_models)))


def no_vectors(form: LossForm) -> VectorSets:
    """Return empty vector sets: the greedy posterior policy."""
    return VectorSets(
        np.zeros(form.steps + 1, np.int32),
        np.zeros(form.pattern.n_states + 1, np.int64),
        np.zeros((0, form.n_models)),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class LatticeSource:
    """Lattices in all states, coarse ones first."""

    form: LossForm

    def grow(
        self, count: int, guide: object, keep_going: Callable[[], None]
    ) -> BeliefPoints:
        """Return the coarsest lattice with at least `count` points, or the finest."""
        likely = np.flatnonzero(self.form.latent.prior > 0.0)
        finest = FINEST if likely.size == 2 else FINEST_OF_THREE
        side, states, beliefs = 2, [], []
        while side <= finest:
            keep_going()
            new = _lattice(likely, side, self.form.n_models)
            everywhere = np.arange(self.form.pattern.n_states, dtype=np.int32)
            states.append(np.repeat(everywhere, len(new)))
            beliefs.append(np.tile(new, (everywhere.size, 1)))
            if sum(map(len, states)) >= count:
                break
            side *= 2
        return BeliefPoints(np.concatenate(states), np.concatenate(beliefs))


def _lattice(likely: OffsetArray, side: int, members: int) -> FloatArray:
    """Return the points of one lattice that the one of half its fineness lacks."""
    found = []
    for head in product(range(side + 1), repeat=likely.size - 1):
        last = side - sum(head)
        whole = (*head, last)
        coarse = side > 2 and all(each % 2 == 0 for each in whole)
        if last >= 0 and max(whole) < side and not coarse:
            found.append(whole)
    parts = (np.array(found, np.float64) / side) ** 3
    beliefs: FloatArray = np.zeros((len(found), members))
    beliefs[:, likely] = parts / parts.sum(axis=1, keepdims=True)
    return beliefs
