"""Beliefs on a lattice, the points of the grid solver: two or three models only.

Weights are proportional to the cubes of (k_1, ..., k_M) / r with sum k = r: dense near
the corners, where small beliefs matter. Doubling r keeps all points, so that a larger
lattice begins with the smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.oracle.bounded.points import BeliefPoints
from simgap.oracle.loss_form import LossForm

FINEST = 1024  # per side, for two models
FINEST_OF_THREE = 128


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
