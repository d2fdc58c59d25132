"""The paths that two models share, and the part of them on which nothing is learned.

A path has weight sqrt(P_i(path) P_j(path)): a product of sqrt(p_i p_j) over its steps.
Where it is zero one model is ruled out, so only *places* count, the states that both
models can reach along one path. A row (s, a) is silent if the models have equal numbers
there; its weights then sum to 1, those of any other row to less.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from simgap._kernels.solving.reachability import (
    backward_order,
    predecessors,
    strong_components,
)
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray, read_only
from simgap.mdp import SimulatorClass


@final
@dataclass(frozen=True, slots=True, eq=False)
class SharedPaths:
    """Rows of sqrt(p_i p_j) at the places both models can be in, zeros left out."""

    states: OffsetArray  # (G,), the state of each place
    start: FloatArray  # (G,), sqrt(mu_i mu_j)
    overlap: Fraction  # sum_s min(mu_i, mu_j): twice the error of a guess at once
    groups: OffsetArray  # (G + 1,), rows of each place
    row: OffsetArray  # (R,), s * A + a of each row
    silent: BoolArray  # (R,)
    indptr: OffsetArray  # (R + 1,)
    indices: IndexArray  # (E,), places
    shared: FloatArray  # (E,)
    terms: int  # numbers that the laws of the models are sums of, at most

    def __post_init__(self) -> None:
        for name in ("start", "shared"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        for name in ("states", "groups", "row", "indptr"):
            object.__setattr__(self, name, read_only(getattr(self, name), np.int64))
        object.__setattr__(self, "indices", read_only(self.indices, np.int32))
        object.__setattr__(self, "silent", read_only(self.silent, np.bool_))

    @property
    def n_places(self) -> int:
        return int(self.start.size)

    @property
    def edge_begins(self) -> OffsetArray:
        """Where the edges of each place begin, (G + 1,), read-only."""
        begins: OffsetArray = read_only(self.indptr[self.groups], np.int64)
        return begins


def shared_paths(simulators: SimulatorClass, first: int, second: int) -> SharedPaths:
    """Return what two models share, from the states both can start in."""
    kernel = simulators.transitions
    n_rows, n_actions = kernel.indptr.size - 1, kernel.n_actions
    p, q = kernel.values[first], kernel.values[second]
    shared = _affinity(p, q)
    start = _affinity(simulators.start_law(first), simulators.start_law(second))
    row_of = np.repeat(np.arange(n_rows), np.diff(kernel.indptr))
    silent = np.bincount(row_of[p != q], minlength=n_rows) == 0

    used = shared > 0.0
    begins = _begins(row_of[used], n_rows)
    seen = backward_order(  # along the edges: they are given by where they start
        begins[::n_actions].copy(), kernel.indices[used], np.flatnonzero(start > 0.0)
    )
    states = np.sort(seen)
    place = np.full(kernel.n_states, -1, np.int32)
    place[states] = np.arange(states.size)
    rows = (states[:, None] * n_actions + np.arange(n_actions)).ravel()
    kept = used & (place[row_of // n_actions] >= 0)
    number = np.full(n_rows, -1)
    number[rows] = np.arange(rows.size)
    return SharedPaths(
        states=states,
        start=start[states],
        overlap=_overlap(simulators.start_law(first), simulators.start_law(second)),
        groups=np.arange(states.size + 1) * n_actions,
        row=rows,
        silent=silent[rows],
        indptr=_begins(number[row_of[kept]], rows.size),
        indices=place[kernel.indices[kept]],
        shared=shared[kept],
        terms=kernel.n_states
        if simulators.start.ndim == 2
        else int(np.diff(kernel.indptr).max()),
    )


def _overlap(one: FloatArray, two: FloatArray) -> Fraction:
    """Return the sum of the lesser chances of two laws, each divided by its sum."""
    used = (one > 0.0) | (two > 0.0)
    laws = [[Fraction(p) for p in law[used].tolist()] for law in (one, two)]
    first, second = (sum(law, Fraction(0)) for law in laws)
    shared = (min(p / first, q / second) for p, q in zip(*laws, strict=True))
    return sum(shared, Fraction(0))


def silent_places(paths: SharedPaths) -> BoolArray:
    """Return for each place whether nothing is ever learned from there on, (G,)."""
    speaks = np.zeros(paths.n_places, np.bool_)
    speaks[_place_of_row(paths)[~paths.silent]] = True
    begins, sources = predecessors(
        paths.edge_begins, paths.indices, paths.shared, paths.n_places, 1
    )
    silent = np.ones(paths.n_places, np.bool_)
    silent[backward_order(begins, sources, np.flatnonzero(speaks))] = False
    return silent


def never_silenced(paths: SharedPaths) -> SharedPaths | None:
    """Return the paths along which one never loses the chance to learn more.

    Places and rows are taken away until from every place left some row leads to places
    left only, and a row that is not silent can be reached. None if a first place goes:
    then no rule makes sure that the models are told apart in the end.
    """
    while True:
        silent = silent_places(paths)
        if not silent.any():
            seen = _seen(paths)
            return _part(paths, seen, seen[_place_of_row(paths)])
        row_of = np.repeat(np.arange(paths.row.size), np.diff(paths.indptr))
        left, of_row = ~silent, _place_of_row(paths)
        while True:
            bad = np.bincount(row_of, ~left[paths.indices], paths.row.size) > 0
            stays = np.bincount(of_row[~bad], minlength=left.size) > 0
            if not (left & ~stays).any():
                break
            left &= stays
        if not left[paths.start > 0.0].all():
            return None
        paths = _part(paths, left, left[of_row] & ~bad)


def without_waiting(paths: SharedPaths) -> SharedPaths:
    """Return the same paths with silent loops that one can leave made one place.

    Such a loop is a set of places with silent rows that stay in it and lead from each
    of its places to every other. To move there neither tells nor costs anything, so
    that all of it is worth what its best way out is worth. Silent places stay.
    """
    never = silent_places(paths)
    place_of_row = _place_of_row(paths)
    row_of = np.repeat(np.arange(paths.row.size), np.diff(paths.indptr))
    inner = paths.silent & ~never[place_of_row]
    component = np.empty(paths.n_places, np.int64)
    while True:
        open_edges = read_only(inner[row_of])
        strong_components(paths.edge_begins, paths.indices, open_edges, 1, component)
        leaves = component[place_of_row[row_of]] != component[paths.indices]
        out = np.bincount(row_of[leaves], minlength=inner.size) > 0
        if not (inner & out).any():
            break
        inner &= ~out
    merged = np.unique(component, return_inverse=True)[1]
    return _merged(paths, merged, ~inner)


def _seen(paths: SharedPaths) -> BoolArray:
    """Return which places can be reached from the first ones."""
    seen: BoolArray = np.zeros(paths.n_places, np.bool_)
    first = np.flatnonzero(paths.start > 0.0)
    seen[backward_order(paths.edge_begins.copy(), paths.indices.copy(), first)] = True
    return seen


def _part(paths: SharedPaths, left: BoolArray, rows: BoolArray) -> SharedPaths:
    """Return some places and some of their rows, which lead to these places only."""
    number = np.cumsum(left) - 1
    chosen = np.flatnonzero(rows)
    lengths = np.diff(paths.indptr)[chosen]
    edges = np.repeat(rows, np.diff(paths.indptr))
    return SharedPaths(
        states=paths.states[left],
        start=paths.start[left],
        overlap=paths.overlap,
        groups=_begins(number[_place_of_row(paths)[chosen]], int(left.sum())),
        row=paths.row[chosen],
        silent=paths.silent[chosen],
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        indices=number[paths.indices[edges]],
        shared=paths.shared[edges],
        terms=paths.terms,
    )


def _merged(paths: SharedPaths, group: OffsetArray, kept: BoolArray) -> SharedPaths:
    """Return the paths over groups of places, with some of the rows."""
    of_row = group[_place_of_row(paths)]
    order = np.argsort(of_row, kind="stable")
    order = order[kept[order]]
    lengths = np.diff(paths.indptr)[order]
    shift = np.repeat(paths.indptr[order] - (np.cumsum(lengths) - lengths), lengths)
    edges = np.arange(int(lengths.sum())) + shift
    count = int(group.max()) + 1
    first = np.full(count, -1)
    first[group[::-1]] = np.arange(group.size)[::-1]
    return SharedPaths(
        states=paths.states[first],
        start=np.bincount(group, paths.start, minlength=count).astype(np.float64),
        overlap=paths.overlap,
        groups=_begins(of_row[order], count),
        row=paths.row[order],
        silent=paths.silent[order],
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        indices=group[paths.indices[edges]],
        shared=paths.shared[edges],
        terms=paths.terms,
    )


def _affinity(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return sqrt(p q), p itself where they are equal."""
    return np.where(p == q, p, np.sqrt(p) * np.sqrt(q))


def _begins(sorted_numbers: OffsetArray, count: int) -> OffsetArray:
    """Return where each of `count` numbers begins in a sorted list of them."""
    begins: OffsetArray = np.searchsorted(sorted_numbers, np.arange(count + 1))
    return begins


def _place_of_row(paths: SharedPaths) -> OffsetArray:
    return np.repeat(np.arange(paths.n_places), np.diff(paths.groups))
