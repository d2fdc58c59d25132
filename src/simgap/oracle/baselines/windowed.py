"""What an agent with a short memory can tell apart: nodes made of its last steps.

A node of a window of k is the current state and the last k transitions, or all of them
at the beginning of an episode. Transitions are columns of the pattern, so a node is a
path of at most k columns. Paths are numbered so that the children of a path (itself and
one more column) are neighbours, in the order of the columns: where a node goes is then
one number per node. With k = 0 the nodes are the states: no memory at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.oracle.loss_form import LossForm
from simgap.policies import Pattern

LARGEST_TABLE = 200_000  # nodes


@final
@dataclass(frozen=True, slots=True, eq=False)
class MemoryNodes:
    """N things to remember; the first S nodes are the states, without a past."""

    window: int  # transitions remembered
    node_state: IndexArray  # (N,), the current state
    parent: IndexArray  # (N,), the node without its last column, -1 for no column
    column: IndexArray  # (N,), the last column, -1 for none
    shift: OffsetArray  # (N,), column k leads to next_node[shift[n] + k]
    next_node: IndexArray

    @property
    def size(self) -> int:
        return int(self.node_state.size)

    def window_numbers(self, pattern: Pattern) -> OffsetArray:
        """Return the number that `WindowPolicy` gives the past of each node, (N,)."""
        rows = np.searchsorted(pattern.indptr, self.column, side="right") - 1
        numbers = np.zeros(self.size, np.int64)
        pairs = pattern.n_states * pattern.n_actions
        end = pattern.n_states
        while end < self.size:
            level = slice(end, self.end_of_level(end))
            numbers[level] = numbers[self.parent[level]] * pairs + 1 + rows[level]
            end = level.stop
        return numbers

    def end_of_level(self, begin: int) -> int:
        """Return where the paths end that are as long as that of node `begin`."""
        return int(np.searchsorted(self.parent, begin))  # parents come in order


def window_size(pattern: Pattern, window: int) -> int:
    """Return how many nodes a window has, without building it."""
    starts, rows = _columns_of_states(pattern)
    paths = np.ones(pattern.n_states, np.int64)  # paths of one length into each state
    total = pattern.n_states
    lengths = np.diff(np.append(starts, rows))
    for _ in range(window):
        each = np.repeat(paths, lengths)
        paths = np.bincount(pattern.indices, each, pattern.n_states).astype(np.int64)
        total += int(paths.sum())
        if total > LARGEST_TABLE:
            break
    return total


def window_nodes(pattern: Pattern, window: int) -> MemoryNodes:
    """Return the nodes of an agent that remembers its last `window` transitions."""
    states = np.arange(pattern.n_states, dtype=np.int32)
    nobody = np.full(pattern.n_states, -1, np.int32)
    if window == 0:
        shift = np.zeros(pattern.n_states, np.int64)
        return MemoryNodes(
            0, owned(states), owned(nobody), owned(np.array(nobody)), owned(shift),
            pattern.indices,
        )  # fmt: skip
    if window < 0 or window_size(pattern, window) > LARGEST_TABLE:
        raise InvalidArgument(
            f"a window of {window} has more than {LARGEST_TABLE} nodes",
            hint="remember fewer steps",
        )
    starts, end = _columns_of_states(pattern)
    lengths = np.diff(np.append(starts, end))
    state, parent, column = [states], [nobody], [np.array(nobody)]
    suffix = [nobody]  # the node without its first column; of level j in level j - 1
    first_child: list[OffsetArray] = []
    begin = 0  # of the level at hand
    for level in range(window):
        here = state[level]
        size = begin + here.size
        many = lengths[here]
        children = size + np.cumsum(many) - many
        first_child.append(children)
        owner = np.repeat(np.arange(here.size), many)
        offset = np.arange(int(many.sum())) - (children - size)[owner]
        taken = starts[here[owner]] + offset
        after = pattern.indices[taken]
        parent.append((begin + owner).astype(np.int32))
        column.append(taken.astype(np.int32))
        state.append(after.astype(np.int32))
        if level == 0:
            suffix.append(after.astype(np.int32))
        else:  # the same column, one level down
            above = suffix[level][owner]
            known = np.concatenate(first_child[:level])
            suffix.append((known[above] + offset).astype(np.int32))
        begin = size
    inner = np.concatenate([*first_child])
    into = np.concatenate([inner, inner[suffix[window]]])
    every = np.concatenate(state)
    return MemoryNodes(
        window=window,
        node_state=owned(every),
        parent=owned(np.concatenate(parent)),
        column=owned(np.concatenate(column)),
        shift=owned(into - starts[every]),
        next_node=owned(np.arange(every.size, dtype=np.int32)),
    )


def first_weights(form: LossForm, nodes: MemoryNodes) -> FloatArray:
    """Return the prior times the chance to start in each node, (N, M)."""
    weights: FloatArray = np.zeros((nodes.size, form.n_models))
    weights[form.root_states] = form.root_weights
    return weights


def past_weights(form: LossForm, nodes: MemoryNodes) -> FloatArray:
    """Return the prior times the likelihood of what a node remembers, (N, M)."""
    weights: FloatArray = np.empty((nodes.size, form.n_models))
    end = form.pattern.n_states
    weights[:end] = form.latent.prior
    while end < nodes.size:
        level = slice(end, nodes.end_of_level(end))
        seen = form.likelihood[nodes.column[level]]
        weights[level] = weights[nodes.parent[level]] * seen
        end = level.stop
    return weights


def _columns_of_states(pattern: Pattern) -> tuple[OffsetArray, int]:
    """Return where the columns of each state begin, and where the last ones end."""
    begins: OffsetArray = pattern.indptr[: -1 : pattern.n_actions]
    return begins, int(pattern.indptr[-1])
