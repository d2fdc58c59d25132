"""A policy graph: nodes, and rules that say what a node does and where it goes next.

A node is one thing the agent can remember. At step h node n follows the one rule of n
with since <= h <= until: it plays the action of the rule and, when the next state is
the k-th successor in the row of (state, action), moves to the k-th node of the rule.
Nodes that do the same at many steps need one rule for all of them, so graphs of long
horizons stay small. Values of a graph in each model are computed exactly, backwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.arrays import IndexArray, OffsetArray

NOWHERE = -1  # a successor that no model with a positive prior allows


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Which successors rows have: `indptr` and `indices` of the class's transitions."""

    n_states: int
    n_actions: int
    indptr: OffsetArray  # (S * A + 1,)
    indices: IndexArray  # (nnz,), increasing within a row


@final
@dataclass(frozen=True, slots=True, eq=False)
class GraphPolicy:
    """A finite-memory policy with exact values; memory is the number of a node."""

    name: str
    pattern: Pattern
    horizon: int | None  # None: discounted, rules hold at every step
    node_state: IndexArray  # (N,), the observed state in which the node is used
    start_node: IndexArray  # (S,), the first node, NOWHERE if episodes cannot start
    rule_offsets: OffsetArray  # (N + 1,), rules of a node by increasing `until`
    rule_since: IndexArray  # (R,), first step of the rule
    rule_until: IndexArray  # (R,), last step of the rule
    rule_action: IndexArray  # (R,)
    next_offsets: OffsetArray  # (R + 1,), rule r has one successor node per column
    next_node: IndexArray  # of the row of (node_state, rule_action), NOWHERE allowed
