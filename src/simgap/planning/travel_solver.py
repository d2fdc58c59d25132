"""Travel times of one communicating model: three methods, one certificate.

Travel times to one target by policy iteration, however slow the chain is.

The first policy follows shortest paths with edge cost 1 / p, which is never absurdly
slow. Policies are evaluated by `PolicyChain` and sharpened to about 30 digits, so that
an improvement can be distinguished from rounding even if times are as large as 1e18.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.solving.double_double import add_to_wide
from simgap._kernels.solving.lanes import LANES
from simgap._kernels.solving.reachability import (
    backward_order,
    compact_blocks,
    predecessors,
)
from simgap._kernels.solving.travel import (
    PRUNED,
    SLOW,
    ordered_travel_sweeps,
    wide_travel_sweeps,
)
from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, IndexArray, OffsetArray, aligned
from simgap.intervals import EPS
from simgap.planning.lane_blocks import units_off
from simgap.planning.policy_chain import (
    Moves,
    PolicyChain,
    elimination_order,
    first_best,
    paths_to,
)

WIDE_PATIENCE = 300  # sweeps
DENSE_STATES = 64  # from here on a matrix product pays for a full kernel
DENSE_COLUMNS = 256
MOST_ROUNDS = 1000
MOST_CORRECTIONS = 6
IMPROVEMENT = 1e-12  # of one step: less is a tie


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """low * times <= V* <= high * times for one target; low <= 1 <= high."""

    target: int
    times: FloatArray  # (S,)
    low: float
    high: float
    policy: IndexArray | None = None  # (S,), where doubles are too short to find it

    @property
    def reach_low(self) -> float:
        """Lower bound on the greatest time to the target."""
        return self.low * float(self.times.max())

    @property
    def reach_high(self) -> float:
        """Upper bound on the greatest time to the target."""
        return self.high * float(self.times.max())


@final
class TravelSolver:
    """All targets of one model in which the targets asked for can be made sure of."""

    def __init__(
        self,
        indptr: OffsetArray,
        indices: IndexArray,
        values: FloatArray,
        n_actions: int,
        tolerance: float,
    ) -> None:
        self._kernel = (indptr, indices, values)
        self._n_actions = n_actions
        self._n_states = (indptr.size - 1) // n_actions
        self._longest = int(np.diff(indptr).max()) + units_off(indptr, values)
        self._tolerance = tolerance
        self._dense = indices.size == self._n_states * n_actions * self._n_states
        self._wide_works = True
        self._ordered_works = True
        self._moves: Moves | None = None
        self._backward: tuple[OffsetArray, IndexArray] | None = None
        self._order: OffsetArray | None = None
        self._inverse: FloatArray | None = None

    def one(self, target: int) -> Solved:
        """Return the times to one target."""
        return next(self.every(np.array([target])))

    def every(self, targets: OffsetArray) -> Iterator[Solved]:
        """Yield the times to each target, in order of blocks."""
        yield from self._search(targets, prune=False)

    def hardest(self) -> Iterator[Solved]:
        """Yield targets that may be the hardest to reach; drop the certainly easier."""
        _, indices, values = self._kernel
        incoming = np.bincount(indices, values, minlength=self._n_states)
        yield from self._search(np.argsort(incoming, kind="stable"), prune=True)

    def sharp(self, target: int) -> Solved:
        """Return the times to one target by elimination, to nearly all digits."""
        moves = self._moves_of()
        if self._order is None:
            self._order = elimination_order(moves)
        return Solved(
            target, *exact_travel(moves, target, self._order, self._tolerance)
        )

    def _search(self, targets: OffsetArray, *, prune: bool) -> Iterator[Solved]:
        if self._n_states == 1:
            yield Solved(0, np.zeros(1), 1.0, 1.0)
            return
        best = 0.0
        dense = self._dense and self._n_states >= DENSE_STATES and targets.size > LANES
        width = DENSE_COLUMNS if dense else LANES
        waiting = targets
        while waiting.size:
            check_time()
            block = waiting[:width]
            if self._wide_works:
                found = (self._by_product if dense else self._by_lanes)(block, best)
                if found is None:  # too slow; one model is much alike for all targets
                    self._wide_works, width = False, LANES
                    waiting = self._by_neighbourhood(waiting)
                    continue
            elif self._ordered_works:
                found = self._in_order(block, best)
                if found is None:
                    self._ordered_works = False
                    continue
            else:
                found = [self.sharp(int(target)) for target in block]
            waiting = waiting[width:]
            for solved in found:
                if prune:
                    best = max(best, solved.reach_low)
                yield solved

    def _by_neighbourhood(self, targets: OffsetArray) -> OffsetArray:
        """Return the targets so that those of one block are near each other.

        The first block keeps the targets that came first: they prune the others.
        """
        first, rest = targets[:LANES], targets[LANES:]
        near = compact_blocks(*self._sources_of(), rest, LANES)
        return np.concatenate([first, near])

    def _by_lanes(self, block: OffsetArray, best: float) -> list[Solved] | None:
        """Solve up to 16 targets at once; none if all are easy, None if too slow."""
        n_states = self._n_states
        padded = np.resize(block, LANES)
        now = aligned((n_states, LANES), 1.0)
        now[padded, np.arange(LANES)] = 0.0
        after, bounds = aligned((n_states, LANES)), np.zeros((3, LANES))
        outcome = wide_travel_sweeps(
            *self._kernel,
            self._n_actions,
            padded,
            self._tolerance,
            WIDE_PATIENCE,
            best,
            self._longest,
            now,
            after,
            bounds,
        )
        return _found(outcome, block, now, bounds)

    def _by_product(self, block: OffsetArray, best: float) -> list[Solved] | None:
        """The same sweeps as matrix products, for a kernel without zeros to skip."""
        n_states, columns = self._n_states, np.arange(block.size)
        kernel = self._kernel[2].reshape(-1, n_states)
        now: FloatArray = np.ones((n_states, block.size))
        now[block, columns] = 0.0
        scale = np.ones(block.size)
        rounding = (self._longest + 6) * EPS
        early = np.inf
        for sweep in range(2 * WIDE_PATIENCE):
            now *= scale
            after = kernel @ now
            after = after.reshape(n_states, self._n_actions, -1).min(axis=1)
            after += 1.0
            change = after - now
            change[block, columns] = np.inf
            least = change.min(axis=0)
            change[block, columns] = -np.inf
            most = change.max(axis=0)
            noise = rounding * (now.max(axis=0) + 2.0)
            below, above = 1.0 - least + noise, 1.0 - most - noise
            if (above > 0.0).all():
                bounds = np.stack([1.0 / below, 1.0 / above])
                if (bounds[1] * now.max(axis=0)).max() < best:
                    return []
                width = float((below / above).max()) - 1.0
                if width <= self._tolerance:
                    return _columns(block, now, bounds)
                if sweep == 10:
                    early = width
                elif sweep == 20 or (sweep > 20 and sweep % 50 == 0):
                    per_sweep = np.log(width / early) / (sweep - 10)
                    if per_sweep >= 0.0 or (
                        np.log(self._tolerance / width) / per_sweep > WIDE_PATIENCE
                    ):
                        break
            middle = 0.5 * (least + most)
            scale = np.where(middle < 1.0, 1.0 / (1.0 - np.minimum(middle, 0.999)), 1.0)
            after[block, columns] = 0.0
            now = after
        return None

    def _in_order(self, block: OffsetArray, best: float) -> list[Solved] | None:
        """Solve up to 16 neighbouring targets by sweeps outwards from them."""
        moves = self._moves_of()
        padded = np.resize(block, LANES)
        order = backward_order(*self._sources_of(), padded)
        times, bounds = aligned((self._n_states, LANES)), np.zeros((3, LANES))
        times[order] = np.arange(1.0, order.size + 1.0)[:, None]
        times[padded, np.arange(LANES)] = 0.0
        if self._inverse is None:
            with np.errstate(divide="ignore", over="ignore"):
                self._inverse = 1.0 / moves.leave
        outcome = ordered_travel_sweeps(
            *self._kernel,
            moves.indptr,
            moves.indices,
            moves.values,
            self._inverse,
            self._n_actions,
            order,
            padded,
            self._tolerance,
            self._patience(),
            best,
            self._longest,
            times,
            bounds,
        )
        return _found(outcome, block, times, bounds)

    def _patience(self) -> int:
        """How many sweeps of 16 targets cost about as much as their eliminations."""
        elimination = self._n_states**3 / (4.0 * max(1, self._kernel[1].size))
        return int(min(max(400.0, LANES * elimination), 50_000.0))

    def _sources_of(self) -> tuple[OffsetArray, IndexArray]:
        if self._backward is None:
            self._backward = predecessors(
                *self._kernel, self._n_states, self._n_actions
            )
        return self._backward

    def _moves_of(self) -> Moves:
        if self._moves is None:
            self._moves = Moves.of(*self._kernel, self._n_actions)
        return self._moves


def _found(
    outcome: int, block: OffsetArray, times: FloatArray, bounds: FloatArray
) -> list[Solved] | None:
    if outcome == SLOW:
        return None
    return [] if outcome == PRUNED else _columns(block, times, bounds)


def _columns(block: OffsetArray, now: FloatArray, bounds: FloatArray) -> list[Solved]:
    """Return the targets with their times moved to the middle of the bounds."""
    below, above = bounds[:2, : block.size]
    middle = 0.5 * (below + above)
    rows = np.empty((block.size, now.shape[0]))
    np.multiply(now[:, : block.size].T, middle[:, None], out=rows)
    low = (below / middle * (1.0 - 4.0 * EPS)).tolist()
    high = (above / middle * (1.0 + 4.0 * EPS)).tolist()
    return [
        Solved(target, rows[lane], low[lane], high[lane])
        for lane, target in enumerate(block.tolist())
    ]


def exact_travel(
    moves: Moves, target: int, order: OffsetArray, tolerance: float
) -> tuple[FloatArray, float, float, IndexArray]:
    """Return times, low, high and a policy; low * times <= V* <= high * times.

    The policy takes the first action within rounding of the fastest. Where floats do
    not reach, nothing is known: low is 0, high infinite and times are 1.
    """
    n_states = moves.n_states
    costs = np.full(moves.indptr.size - 1, -1.0)
    policy, _ = paths_to(moves, np.array([target]))
    everyone = np.arange(n_states)
    others = everyone != target
    for _ in range(MOST_ROUNDS):
        check_time()
        chain = PolicyChain(moves, policy, target, order)
        rows = everyone * moves.n_actions + policy
        high, low = -chain.solve(np.ones(n_states)), np.zeros(n_states)
        for _ in range(MOST_CORRECTIONS):
            gain = moves.advantages(costs, high, low)
            defect = gain.high[rows] + gain.low[rows]
            if np.abs(defect[others]).max() <= 1e-3 * min(tolerance, IMPROVEMENT):
                break
            add_to_wide(high, low, chain.solve(defect))
        table = (gain.high + gain.low).reshape(n_states, moves.n_actions)
        noise = gain.noise.reshape(n_states, moves.n_actions)
        lowest, highest = _bracket(table[others], noise[others])
        best = table.argmax(axis=1)
        current = table[everyone, policy]
        switch = others & (table[everyone, best] > current + IMPROVEMENT)
        if not switch.any():
            break
        policy = np.where(switch, best, policy).astype(np.int32)
    times = -high
    if not (np.isfinite(times).all() and (times[others] > 0.0).all()):
        times, lowest, highest = others.astype(np.float64), 0.0, np.inf
    policy = first_best(table, IMPROVEMENT)
    return times, lowest * (1.0 - 4.0 * EPS), highest * (1.0 + 4.0 * EPS), policy


def _bracket(table: FloatArray, noise: FloatArray) -> tuple[float, float]:
    """Return the factors that bound V*, from r = TV - V = -max_a advantage."""
    change_low = -(table + noise).max(axis=1)
    change_high = -(table - noise).max(axis=1)
    most = float(change_high.max())
    below = 1.0 - float(change_low.min())
    if not below > 0.0:  # NaN: floats do not reach
        return 0.0, np.inf
    return 1.0 / below, 1.0 / (1.0 - most) if most < 1.0 else np.inf
