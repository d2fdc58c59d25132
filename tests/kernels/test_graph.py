"""Searches over the graph of a kernel against sets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from simgap._kernels.solving.reachability import (
    backward_order,
    predecessors,
    strong_components,
    without_self_loops,
)
from simgap.arrays import IndexArray, OffsetArray, read_only
from tests.kernels.inputs import Pattern, pattern, patterns
from tests.reference import graph as twin
from tests.reference.kernel_rows import entries


def sparse_patterns() -> list[Pattern]:
    """Rows of one or two entries: many components, dead ends, empty rows of zeros."""
    rng = np.random.default_rng(21)
    thin = [pattern(rng, S, 1, (1, 1, 2)) for S in (1, 2, 3, 7, 20, 40) for _ in "abc"]
    return [*patterns(20), *thin]


def backward(kernel: Pattern) -> tuple[OffsetArray, IndexArray]:
    begins, sources = predecessors(*kernel.arrays, kernel.n_states, kernel.n_actions)
    return read_only(begins, np.int64), read_only(sources, np.int32)


def test_predecessors_are_the_sets_of_the_twin_without_repeats() -> None:
    for kernel in sparse_patterns():
        begins, sources = backward(kernel)
        wanted = twin.predecessors(kernel.arrays, kernel.n_actions)
        assert begins[0] == 0
        assert begins[-1] == sources.size
        for state, (begin, end) in enumerate(pairwise(begins)):
            assert sources[begin:end].tolist() == sorted(wanted[state])


def test_backward_order_has_who_can_reach_a_target_nearest_first() -> None:
    rng = np.random.default_rng(22)
    partial = 0
    for kernel in sparse_patterns():
        count = int(rng.integers(1, 5))
        targets = rng.integers(0, kernel.n_states, count)  # repeats allowed
        order = backward_order(*backward(kernel), read_only(targets, np.int64))
        distance = twin.distances(
            twin.predecessors(kernel.arrays, kernel.n_actions), targets.tolist()
        )
        assert sorted(order.tolist()) == sorted(distance)
        along = [distance[int(s)] for s in order]
        assert along == sorted(along)
        partial += order.size < kernel.n_states
    assert partial > 5


def test_strong_components_are_those_of_the_twin_in_topological_order() -> None:
    several = 0
    for kernel in sparse_patterns():
        component = np.empty(kernel.n_states, np.int64)
        found = strong_components(*kernel.arrays, kernel.n_actions, component)
        edges = twin.successors(kernel.arrays, kernel.n_actions)
        sets = {
            frozenset(np.flatnonzero(component == c).tolist()) for c in range(found)
        }
        assert sets == twin.components(edges)
        for s, after in enumerate(edges):
            assert all(component[t] <= component[s] for t in after)
        several += found > 1
    assert several > 10


def test_a_ring_of_many_states_needs_no_recursion() -> None:
    n = 50_000
    indptr, indices = np.arange(n + 1), np.roll(np.arange(n, dtype=np.int32), -1)
    component = np.empty(n, np.int64)
    assert strong_components(indptr, indices, np.ones(n), 1, component) == 1
    broken = np.ones(n)
    broken[7] = 0.0  # an explicit zero is no edge
    assert strong_components(indptr, indices, broken, 1, component) == n


def test_taking_out_self_loops_keeps_the_rest_and_sums_it() -> None:
    loops = 0
    for kernel in sparse_patterns():
        begins, others, kept, leave = without_self_loops(
            *kernel.arrays, kernel.n_actions
        )
        for row in range(kernel.indptr.size - 1):
            state = row // kernel.n_actions
            full = entries(kernel.arrays, row)
            wanted = [(t, p) for t, p in full if t != state and p > 0.0]
            assert entries((begins, others, kept), row) == wanted
            assert leave[row] == sum(p for _, p in wanted)  # exact on dyadic numbers
            loops += any(t == state for t, _ in full)
    assert loops > 50
