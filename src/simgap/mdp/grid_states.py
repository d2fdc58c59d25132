"""Which nodes of a grid become states of a table.

Some nodes are never entered: no pendulum passes the top at the greatest speed. They
make the diameter infinite, so they are left out unless the whole grid is asked for. If
one model enters a node and another model does not, the other model does not
communicate. Such a node can be left out of all models; steps that would enter it then
go to the nearest node that is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.errors import InvalidModel
from simgap.mdp.state_grid import StateGrid

LEAST_SHARE = 0.5  # of the nodes; where fewer are common to all, nothing is left out


class NodeSet(Enum):
    """Which nodes are states."""

    ALL = "all"
    REACHABLE = "reachable"  # those that some model reaches from the start
    COMMUNICATING = "communicating"  # those that every model reaches and leaves


class NodeSteps(NamedTuple):
    """Where one model goes from every node, all actions side by side.

    Corners are nodes, or `size` for the end of an episode.
    """

    corners: IndexArray  # (nodes, A * k)
    weights: FloatArray  # (nodes, A * k)


def kept_nodes(
    grid: StateGrid,
    models: Sequence[NodeSteps],
    start: FloatArray,
    states: NodeSet,
    *,
    ends: bool,
) -> BoolArray:
    """Return which nodes become states, (nodes,).

    An episode that ends starts again; `ends` says whether there is such a thing.
    """
    kept: BoolArray = np.ones(grid.size, np.bool_)
    if states is NodeSet.ALL:
        return kept
    if states is NodeSet.REACHABLE:
        return _reached(grid, models, start)
    while True:
        fewer = _common(grid, models, start, kept, ends)
        if np.array_equal(kept, fewer):
            return kept
        kept = fewer


def numbered(grid: StateGrid, kept: BoolArray) -> OffsetArray:
    """Return the state of every node: its own, or that of the nearest kept one."""
    number: OffsetArray = np.cumsum(kept) - 1
    return number if kept.all() else number[grid.nearest_of(kept)]


def _reached(
    grid: StateGrid, models: Sequence[NodeSteps], start: FloatArray
) -> BoolArray:
    from scipy.sparse.csgraph import breadth_first_order

    everywhere = np.arange(grid.size)
    heads = np.concatenate([_heads(each, everywhere) for each in models], axis=1)
    graph = _graph(heads, np.flatnonzero(start))
    # the end leads to the start, so a search from the end meets what a start meets
    met = breadth_first_order(graph, grid.size, return_predecessors=False)
    reached: BoolArray = np.zeros(grid.size + 1, np.bool_)
    reached[met] = True
    return reached[:-1]


def _common(
    grid: StateGrid,
    models: Sequence[NodeSteps],
    start: FloatArray,
    kept: BoolArray,
    ends: bool,
) -> BoolArray:
    """Return the kept nodes between which every model can go back and forth."""
    from scipy.sparse.csgraph import connected_components

    nearest = np.arange(grid.size) if kept.all() else grid.nearest_of(kept)
    support = np.unique(nearest[start > 0.0])
    home = nearest[int(np.argmax(start))]
    common = kept.copy()
    for model in models:
        graph = _graph(_heads(model, nearest), support)
        _, part = connected_components(graph, connection="strong")
        common &= part[:-1] == part[home]
        if ends and part[grid.size] != part[home]:
            raise _apart("in one of them no way leads from the start to the end")
    if common.sum() < LEAST_SHARE * grid.size:
        raise _apart(f"{int(common.sum())} of {grid.size} nodes are common to all")
    return common


def _heads(model: NodeSteps, nearest: OffsetArray) -> IndexArray:
    """Return where the edges of each node lead; edges of no weight stay at the node."""
    place = np.append(nearest, nearest.size).astype(np.int32)
    own = np.arange(nearest.size, dtype=np.int32)[:, None]
    return np.where(model.weights > 0.0, place[model.corners], own)


def _graph(heads: IndexArray, support: OffsetArray) -> Any:
    """Return the graph of nodes and of the end, which leads to the start."""
    from scipy.sparse import csr_array

    nodes, width = heads.shape
    indices = np.concatenate([heads.ravel(), support.astype(np.int32)])
    offsets = np.append(np.arange(nodes + 1) * width, indices.size).astype(np.int32)
    ones = np.ones(indices.size)
    graph = csr_array((ones, indices, offsets), shape=(nodes + 1, nodes + 1))
    graph.sum_duplicates()  # scipy's search for components loops on repeated edges
    return graph


def _apart(problem: str) -> InvalidModel:
    return InvalidModel(
        f"the models do not communicate on one set of nodes: {problem}",
        hint="states=reachable keeps what some model reaches, states=all everything; "
        "or let the models differ less",
    )
