"""The Markov chain of one policy, watched until it reaches a reference state.

(I - P) x = b over the other states is the one linear system that gains, biases and
travel times need. Small systems are solved by elimination without subtraction, so that
long chains cost no digits; large ones by sparse LU. Rows are in units of the chance to
leave, a power of two, so that small chances have products that are floats. Both
solutions are then improved in twice the working precision, in which the final
certificate is computed too. Where floats end, x is not finite.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap._kernels.solving.double_double import wide_advantages
from simgap._kernels.solving.linear_systems import (
    eliminate,
    solve_eliminated,
    visits_of_eliminated,
)
from simgap._kernels.solving.reachability import without_self_loops
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned

ELIMINATE_UP_TO = 2000  # states; a dense (n, n) array
WALK = 400  # steps, to find a state that a large chain visits often


@final
@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """The kernel of one model without self-loops, rows s * A + a."""

    indptr: OffsetArray
    indices: IndexArray
    values: FloatArray
    leave: FloatArray  # (S A,), the sum of each row
    n_actions: int

    @staticmethod
    def of(
        indptr: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int
    ) -> Moves:
        begins, others, kept, leave = without_self_loops(
            indptr, indices, values, n_actions
        )
        return Moves(begins, others, kept, leave, n_actions)

    @property
    def n_states(self) -> int:
        return (self.indptr.size - 1) // self.n_actions

    def policy_edges(
        self, policy: IndexArray
    ) -> tuple[OffsetArray, OffsetArray, FloatArray]:
        """Return the edges of a policy as sources, successors, probabilities."""
        rows = np.arange(self.n_states) * self.n_actions + policy
        lengths = self.indptr[rows + 1] - self.indptr[rows]
        sources = np.repeat(np.arange(self.n_states), lengths)
        first = np.repeat(self.indptr[rows] - (np.cumsum(lengths) - lengths), lengths)
        at = first + np.arange(sources.size)
        return sources, self.indices[at].astype(np.int64), self.values[at]

    def advantages(
        self, rewards: FloatArray, high: FloatArray, low: FloatArray
    ) -> Wide:
        """Return R + P h - h of every row, h = high + low, to about 30 digits."""
        rows = self.indptr.size - 1
        out = Wide(np.empty(rows), np.empty(rows), np.empty(rows))
        wide_advantages(
            self.indptr,
            self.indices,
            self.values,
            owned(rewards.view()),  # one type, whoever calls
            self.n_actions,
            high,
            low,
            out.high,
            out.low,
            out.noise,
        )
        return out


@final
@dataclass(frozen=True, slots=True, eq=False)
class Wide:
    """Double-double numbers high + low, each off by at most noise."""

    high: FloatArray
    low: FloatArray
    noise: FloatArray


@final
class PolicyChain:
    """Solves (I - P_pi) x = b with x = 0 in `reference`, over the chosen states."""

    def __init__(
        self,
        moves: Moves,
        policy: IndexArray,
        reference: int,
        order: OffsetArray,
    ) -> None:
        """Factor the system; `order` lists the states in order of elimination."""
        self._states = order[order != reference]
        self._size = moves.n_states
        count = self._states.size
        place = np.full(moves.n_states, -1)
        place[self._states] = np.arange(count)
        sources, after, weights = moves.policy_edges(policy)
        inside = place[sources] >= 0
        sources, after, weights = sources[inside], after[inside], weights[inside]
        leave = np.bincount(place[sources], weights, minlength=count)
        self._units = np.ldexp(1.0, np.frexp(leave)[1])
        weights = weights / self._units[place[sources]]
        stays = place[after] >= 0
        self._dense: FloatArray | None = None
        self._lu: Any = None
        if count <= ELIMINATE_UP_TO:
            factor = np.zeros((count, count))
            factor[place[sources[stays]], place[after[stays]]] = weights[stays]
            exits = np.bincount(
                place[sources[~stays]], weights[~stays], minlength=count
            ).astype(np.float64)
            eliminate(factor, exits)
            self._dense = factor
        else:
            from scipy import sparse
            from scipy.sparse.linalg import splu

            off = sparse.csc_array(
                (-weights[stays], (place[sources[stays]], place[after[stays]])),
                shape=(count, count),
            )
            system = sparse.csc_matrix(off + sparse.diags_array(leave / self._units))
            with suppress(RuntimeError):  # singular in floats: they do not reach so far
                self._lu = splu(system)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return x (S,), zero in the reference state and in states left out.

        NaN where floats do not reach.
        """
        out: FloatArray = np.zeros(self._size)
        part = np.ascontiguousarray(right[self._states] / self._units)
        if self._dense is not None:
            solve_eliminated(self._dense, part)
        elif self._lu is not None:
            part = self._lu.solve(part)
        else:
            part = np.full_like(part, np.nan)
        out[self._states] = part
        return out


def first_best(table: FloatArray, slack: float) -> IndexArray:
    """Return in each state the lowest action within `slack` of the best, (S,)."""
    good = table >= table.max(axis=1, keepdims=True) - slack
    return np.asarray(good.argmax(axis=1), np.int32)


def elimination_order(moves: Moves) -> OffsetArray:
    """Return an order of the states in which elimination fills in little."""
    from scipy import sparse
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    sources = np.repeat(
        np.arange(moves.n_states), np.diff(moves.indptr[:: moves.n_actions])
    )
    ones = np.ones(sources.size, np.int8)
    graph = sparse.csr_matrix(
        (ones, (sources, moves.indices)), shape=(moves.n_states, moves.n_states)
    )
    graph.data[:] = 1
    order = reverse_cuthill_mckee(graph + graph.T, symmetric_mode=True)
    return np.asarray(order, np.int64)


def often_visited(
    moves: Moves, policy: IndexArray, members: OffsetArray, order: OffsetArray
) -> int:
    """Return a state that the chain of a policy visits often in a recurrent class.

    The waiting time for the reference state multiplies all rounding errors, so that a
    state near the top of a long climb would be a bad one. Small classes: the state
    visited most. Large ones: where a walk of a few hundred steps is.
    """
    if members.size == 1:
        return int(members[0])
    sources, after, weights = moves.policy_edges(policy)
    if members.size <= ELIMINATE_UP_TO:
        inside = order[np.isin(order, members)]
        place = np.full(moves.n_states, -1)
        place[inside] = np.arange(inside.size)
        kept = place[sources] >= 0
        factor = np.zeros((inside.size, inside.size))
        factor[place[sources[kept]], place[after[kept]]] = weights[kept]
        eliminate(factor, np.zeros(inside.size))
        visits = np.zeros(inside.size)
        visits_of_eliminated(factor, visits)
        return int(inside[np.argmax(visits)])
    from scipy import sparse

    shape = (moves.n_states, moves.n_states)
    onward = sparse.csr_array((weights, (after, sources)), shape=shape)
    stay = 1.0 - np.bincount(sources, weights, minlength=moves.n_states)
    mass = np.zeros(moves.n_states)
    mass[members] = 1.0
    for _ in range(WALK):
        mass = 0.5 * (mass * (1.0 + stay) + onward @ mass)
    return int(members[np.argmax(mass[members])])


def paths_to(moves: Moves, targets: OffsetArray) -> tuple[IndexArray, FloatArray]:
    """Return a policy along shortest paths to a set, edge cost 1 / p, and the costs.

    Unlike paths of fewest edges, these never count on a very unlikely step when there
    is a better way, so that the policy is a sane first one to improve on.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import dijkstra

    n_states, n_actions = moves.n_states, moves.n_actions
    rows = np.repeat(np.arange(moves.indptr.size - 1), np.diff(moves.indptr))
    sources, after = rows // n_actions, moves.indices.astype(np.int64)
    best_first = np.lexsort((-moves.values, after, sources))
    keys = sources[best_first] * n_states + after[best_first]
    first = best_first[np.unique(keys, return_index=True)[1]]
    costs = 1.0 / moves.values
    backwards = sparse.csr_array(
        (costs[first], (after[first], sources[first])), shape=(n_states, n_states)
    )
    distance: FloatArray = dijkstra(backwards, indices=targets, min_only=True)
    through = costs + distance[after]
    ordered = np.lexsort((rows, through, sources))
    chosen = ordered[np.unique(sources[ordered], return_index=True)[1]]
    policy = np.zeros(n_states, np.int32)
    policy[sources[chosen]] = rows[chosen] % n_actions
    return policy, distance
