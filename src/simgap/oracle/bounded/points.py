"""Beliefs met in simulation, the points at which both sides of the bracket work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.belief_points import meet_beliefs
from simgap._kernels.optimistic_points import meet_optimistic
from simgap.arrays import FloatArray, IndexArray
from simgap.oracle.bounded.lower_nodes import LowerValues
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets

WANDER = 0.05  # how often the simulated agent plays at random
LONGEST = 400  # steps of a simulated episode with a discount
FAR_APART = 0.06  # per model, in the distance of the kernels; less when too few
CLOSEST = 0.002
BATCH = 16  # episodes between two looks
QUIET = 2.0  # points per episode, below which points must lie closer


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
        form, old = self.form, self.points
        n_states, members = form.pattern.n_states, form.n_models
        states = np.zeros(count, np.int32)
        beliefs, shapes = np.zeros((count, members)), np.zeros((count, members))
        states[: old.size], beliefs[: old.size] = old.states, old.beliefs
        most = max(int(2.0 * count / n_states) + 64, int(np.bincount(old.states).max()))
        by_state = np.zeros((n_states, min(most, count)), np.int32)
        held = np.zeros(n_states, np.int32)
        met, quiet = 0, False
        while met < count and not quiet:
            before = max(met, old.size)
            lived = (self.episode, self.seed)
            into = (self.apart, old.size, met, held, by_state, states, beliefs, shapes)
            met = self._episodes(guide, lived, into)
            self.episode += BATCH
            quiet = met - before < QUIET * BATCH
            self.points = BeliefPoints(states[:met].copy(), beliefs[:met].copy())
            keep_going()

    def _episodes(
        self,
        guide: VectorSets | LowerValues,
        lived: tuple[int, int],
        into: tuple[object, ...],
    ) -> int:
        form = self.form
        horizon = LONGEST if form.horizon is None else form.horizon
        world = (
            form.pattern.indptr, form.pattern.indices, form.likelihood, form.losses,
            horizon,
        )  # fmt: skip
        roots = (form.root_states, form.root_weights, BATCH)
        if isinstance(guide, VectorSets):
            met = meet_beliefs(
                *world, guide.vector_set, guide.vector_offsets, guide.vectors, *roots,
                *lived, WANDER, *into,
            )  # fmt: skip
        else:
            nodes = guide.nodes
            met = meet_optimistic(
                *world, form.discount, guide.value_set, guide.values,
                nodes.state_offsets, nodes.pair_first, nodes.pair_second,
                nodes.grid.size - 2, nodes.node_offsets, nodes.node_model,
                nodes.node_weight, *roots, *lived, *into,
            )  # fmt: skip
        return int(met)


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
