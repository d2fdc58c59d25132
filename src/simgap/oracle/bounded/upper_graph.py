"""Records of the upper side: rules of nodes, one pass over them, visits to them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.bounded.upper_nodes import UpperNodes
from simgap.oracle.loss_form import LossForm

LATER = 0.1  # what the steps after the planned ones weigh, with a discount
MOST_PLANNED = 400

Visits = list[tuple[IndexArray, FloatArray, FloatArray]]  # nodes, beliefs, chances


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
