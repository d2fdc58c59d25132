"""The best mixture of nodes against a linear program."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from simgap._kernels.beliefs.envelope import best_mixture
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.oracle.bounded.lower_nodes import odds_grid
from tests.reference.belief_bounds import best_mixture_by_program


class Nodes:
    """Nodes of one state: concave values on pair faces, and points."""

    def __init__(self, rng: np.random.Generator, members: int, cells: int) -> None:
        pairs = list(combinations(range(members), 2))
        self.first = np.array([i for i, _ in pairs], np.int32)
        self.second = np.array([j for _, j in pairs], np.int32)
        self.grid = cells - 1
        inner = odds_grid(cells)[1:-1]
        vectors = rng.random((6, members)) * (rng.random((6, members)) < 0.7)
        points = rng.dirichlet(np.full(members, 0.5), 12)
        points[rng.random(12) < 0.3, 0] = 0.0
        points /= points.sum(axis=1, keepdims=True)
        faces = np.zeros((len(pairs), inner.size, members))
        for p, (i, j) in enumerate(pairs):
            faces[p, :, i], faces[p, :, j] = 1.0 - inner, inner
        self.beliefs = np.concatenate([faces.reshape(-1, members), points])
        corners = np.eye(members)
        lost = np.concatenate([vectors, 1.0 - corners])  # zero at every corner
        self.values = (self.beliefs @ lost.T).min(axis=1)
        self.values[len(pairs) * inner.size :] *= rng.random(12)

    def sparse(self) -> tuple[OffsetArray, IndexArray, FloatArray]:
        faces = self.first.size * self.grid
        sizes = np.full(len(self.beliefs), self.beliefs.shape[1])
        sizes[:faces] = 2
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        models, weights = [], []
        for node, belief in enumerate(self.beliefs):
            pair = node // self.grid
            which = [self.first[pair], self.second[pair]] if node < faces else None
            chosen = np.arange(belief.size) if which is None else np.array(which)
            models.append(chosen)
            weights.append(belief[chosen])
        return (
            offsets,
            np.concatenate(models).astype(np.int32),
            np.concatenate(weights),
        )

    def mixed(
        self, weight: FloatArray, pivots: int, known: IndexArray | None = None
    ) -> tuple[float, OffsetArray, FloatArray]:
        """Return the value of the mixture, its nodes and their amounts."""
        members = weight.size
        rows, basis = np.empty((5, members)), np.empty(members, np.int64)
        entered = np.full(members, -1, np.int32) if known is None else known
        value = best_mixture(
            weight, 0, len(self.beliefs), self.first, self.second, self.grid,
            *self.sparse(), self.values, pivots, entered, np.empty((members, members)),
            rows, basis,
        )  # fmt: skip
        return value, basis, rows[0].copy()


def beliefs_with_zeros(rng: np.random.Generator, members: int) -> FloatArray:
    weight: FloatArray = rng.dirichlet(np.full(members, 0.7))
    if rng.random() < 0.3:
        weight[int(rng.integers(members))] = 0.0
    if rng.random() < 0.2:
        weight[int(rng.integers(members))] *= 1e-12
    return np.asarray(weight / weight.sum())


def test_the_best_mixture_is_that_of_a_linear_program() -> None:
    rng = np.random.default_rng(0)
    close = count = 0
    for _ in range(150):
        members = int(rng.integers(2, 7))
        nodes = Nodes(rng, members, int(rng.integers(2, 9)))
        weight = beliefs_with_zeros(rng, members)
        value, _, _ = nodes.mixed(weight, 40 * members)
        best = best_mixture_by_program(weight, nodes.beliefs, nodes.values)
        assert value <= best * (1.0 + 1e-7) + 1e-13
        close += value >= best * (1.0 - 1e-5) - 1e-12
        count += 1
    assert close >= 0.95 * count


@pytest.mark.parametrize("pivots", [0, 1, 3, 100])
def test_a_mixture_never_uses_more_weight_than_there_is(pivots: int) -> None:
    """At every number of pivots, also with nodes that are entered unasked."""
    rng = np.random.default_rng(1)
    for turn in range(80):
        members = int(rng.integers(2, 7))
        nodes = Nodes(rng, members, 6)
        weight = beliefs_with_zeros(rng, members)
        known = rng.integers(-1, len(nodes.beliefs), members).astype(np.int32)
        value, basis, amount = nodes.mixed(weight, pivots, known if turn % 2 else None)
        used = np.zeros(members)
        worth = 0.0
        for node, share in zip(basis, amount, strict=True):
            assert share >= 0.0
            if node >= 0:
                used += share * nodes.beliefs[node]
                worth += share * nodes.values[node]
        assert (used <= weight * (1.0 + 1e-14)).all()
        assert value == pytest.approx(worth, rel=1e-13, abs=1e-300)
        if pivots == 0 and turn % 2 == 0:
            assert value == 0.0


def test_a_model_too_thin_to_pivot_on_still_limits_a_mixture() -> None:
    """A node has 1e-11 of a model of which only 1e-14 is there: a thousandth fits."""
    nodes = Nodes(np.random.default_rng(4), 3, 2)
    nodes.beliefs = np.array([[0.5, 0.5 - 1e-11, 1e-11]])
    nodes.first, nodes.second, nodes.grid = nodes.first[:0], nodes.second[:0], 1
    nodes.values = np.array([1.0])
    weight = np.array([0.5, 0.5 - 1e-14, 1e-14])
    value, basis, amount = nodes.mixed(weight, 10)
    (used,) = np.flatnonzero(basis >= 0)
    assert Fraction(amount[used]) * Fraction(1e-11) <= Fraction(1e-14) * (
        1 + Fraction(1, 10**15)
    )
    assert value == amount[used] == pytest.approx(1e-3)
