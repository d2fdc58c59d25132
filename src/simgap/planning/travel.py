"""Least expected travel times, their policies, and the diameter (Assumption 1).

T(s'; M, pi, s) counts the transitions until s' is first reached. For one target, the
least expected time from every state is a stochastic shortest path with unit costs.
Three methods share one certificate, `low * times <= V* <= high * times`:

1. wide sweeps, 16 targets at a time, rescaled after each sweep;
2. sweeps for one target, nearest states first, self-loops removed;
3. policy iteration with elimination free of subtraction, in double-double.

A method that predicts too many sweeps hands its target to the next. Infinite times
are decided on the graph first and never enter the numerics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np

from simgap._kernels.solving.travel import greedy_travel_policy
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument, NotSolved
from simgap.mdp import SimulatorClass, TabularMDP
from simgap.planning.connectivity import (
    SureStates,
    as_class,
    communicating,
    components,
    sure_states,
)
from simgap.planning.travel_solver import Solved, TravelSolver

SHARPEN_UP_TO = 200  # states: the diameter then comes to the last digit or two

Progress = Callable[[int, int], None]  # targets done, targets in all


@final
@dataclass(frozen=True, slots=True, eq=False)
class TravelTimes:
    """Least expected times to one target; inf where it cannot be made sure."""

    target: int
    lower: FloatArray  # (M, S)
    upper: FloatArray  # (M, S)
    policy: IndexArray  # (M, S), attains the times within the bracket


@final
@dataclass(frozen=True, slots=True, eq=False)
class AllTravelTimes:
    """Least expected times between all states, times[m, target, source]."""

    times: FloatArray  # (M, S, S)
    low: FloatArray  # (M, S): low[m, t] * times[m, t] is a lower bound
    high: FloatArray  # (M, S)
    simulators: SimulatorClass
    known_policies: Mapping[tuple[int, int], IndexArray]  # by (model, target)

    @property
    def lower(self) -> FloatArray:
        """Certified lower bounds, (M, S, S)."""
        return np.asarray(self.times * self.low[:, :, None])

    @property
    def upper(self) -> FloatArray:
        """Certified upper bounds, (M, S, S)."""
        return np.asarray(self.times * self.high[:, :, None])

    @property
    def policy(self) -> IndexArray:
        """Actions (M, target, state) that attain the times, computed when asked for."""
        out = np.empty(self.times.shape, np.int32)
        for member in range(self.simulators.n_models):
            for target in range(self.simulators.n_states):
                known = self.known_policies.get((member, target))
                solved = Solved(target, self.times[member, target], 1.0, 1.0, known)
                out[member, target] = _policy(self.simulators, member, solved)
        return out


@final
@dataclass(frozen=True, slots=True, eq=False)
class Diameter:
    """Bounds on the diameter of each model and of the class, and the pair behind it."""

    model_lower: FloatArray  # (M,)
    model_upper: FloatArray  # (M,)
    source: OffsetArray  # (M,), the slowest pair of each model
    target: OffsetArray  # (M,)

    @property
    def lower(self) -> float:
        """Lower bound of the class diameter, the greatest of its models."""
        return float(self.model_lower.max())

    @property
    def upper(self) -> float:
        """Upper bound of the class diameter."""
        return float(self.model_upper.max())

    @property
    def model(self) -> int:
        """The model with the greatest lower bound."""
        return int(np.argmax(self.model_lower))


def travel_times(
    simulators: SimulatorClass | TabularMDP,
    target: int,
    *,
    tolerance: float = 1e-9,
) -> TravelTimes:
    """Return the least expected times from every state to one target.

    `tolerance` is the greatest width of a bracket, relative to the time.
    """
    every = as_class(simulators)
    _check(tolerance)
    whole = isinstance(target, (int, np.integer)) and not isinstance(target, bool)
    if not whole or not 0 <= target < every.n_states:
        raise InvalidArgument(
            f"target {target!r} does not exist",
            hint=f"states are numbered 0 to {every.n_states - 1}",
        )
    shape = (len(every), every.n_states)
    lower, upper = np.empty((2, *shape))
    below, above = _as_divided(every)
    policy = np.empty(shape, np.int32)
    for member, connected in enumerate(communicating(every)):
        if connected:
            solved = _solver(every, member, tolerance).one(target)
        else:
            solved = _partial(every, member, target, tolerance)
        _require(solved, tolerance, every, member)
        lower[member] = below[member] * solved.low * solved.times
        upper[member] = above[member] * solved.high * solved.times
        policy[member] = _policy(every, member, solved)
    return TravelTimes(target, owned(lower), owned(upper), owned(policy))


def all_travel_times(
    simulators: SimulatorClass | TabularMDP,
    *,
    tolerance: float = 1e-9,
    progress: Progress | None = None,
) -> AllTravelTimes:
    """Return the least expected times between all pairs of states."""
    every = as_class(simulators)
    _check(tolerance)
    n_states, members = every.n_states, len(every)
    times = np.empty((members, n_states, n_states))
    low, high = np.empty((2, members, n_states))
    below, above = _as_divided(every)
    policies: dict[tuple[int, int], IndexArray] = {}
    for member, connected in enumerate(communicating(every)):
        found: Iterable[Solved] = (
            _solver(every, member, tolerance).every(np.arange(n_states))
            if connected
            else (_partial(every, member, t, tolerance) for t in range(n_states))
        )
        for done, solved in enumerate(found, start=1):
            _require(solved, tolerance, every, member)
            times[member, solved.target] = solved.times
            low[member, solved.target] = below[member] * solved.low
            high[member, solved.target] = above[member] * solved.high
            if solved.policy is not None:
                policies[member, solved.target] = solved.policy
            if progress is not None:
                progress(member * n_states + done, members * n_states)
    return AllTravelTimes(
        owned(times), owned(low), owned(high), every, MappingProxyType(policies)
    )


def diameter(
    simulators: SimulatorClass | TabularMDP,
    *,
    tolerance: float = 1e-9,
    progress: Progress | None = None,
) -> Diameter:
    """Return the diameter of every model: the greatest of all least travel times.

    Infinite exactly if some model is not communicating. Targets that are certainly
    easier than the hardest one seen are dropped early.
    """
    every = as_class(simulators)
    _check(tolerance)
    members = len(every)
    lower, upper = np.zeros((2, members))
    source, target = np.zeros((2, members), np.int64)
    for member, connected in enumerate(communicating(every)):
        if not connected:
            lower[member] = upper[member] = np.inf
            source[member], target[member] = _apart(components(every, member))
            continue
        if every.n_states == 1:
            continue
        solver = _solver(every, member, tolerance)
        ends: dict[int, float] = {}  # upper ends of the targets that may be hardest
        for done, found in enumerate(solver.hardest()):
            ends[found.target] = found.reach_high
            if found.reach_low > lower[member]:
                lower[member] = found.reach_low
                source[member] = int(np.argmax(found.times))
                target[member] = found.target
            if progress is not None:
                progress(member * every.n_states + done, members * every.n_states)
        if progress is not None:
            progress((member + 1) * every.n_states, members * every.n_states)
        if every.n_states <= SHARPEN_UP_TO:
            for candidate in sorted(ends, key=lambda t: (-ends[t], t)):
                if ends[candidate] <= lower[member]:
                    break
                sharp = solver.sharp(candidate)
                ends[candidate] = min(ends[candidate], sharp.reach_high)
                if sharp.reach_low > lower[member]:
                    lower[member] = sharp.reach_low
                    source[member] = int(np.argmax(sharp.times))
                    target[member] = candidate
        upper[member] = max(ends.values())
        if not upper[member] <= lower[member] * (1.0 + tolerance) + 1e-14:
            raise _not_solved(lower[member], upper[member], tolerance, every, member)
        if lower[member] > upper[member] or upper[member] < 1.0:
            raise AssertionError("a diameter below 1: a defect of the solver")
    below, above = _as_divided(every)
    return Diameter(
        owned(lower * below), owned(upper * above), owned(source), owned(target)
    )


def _solver(every: SimulatorClass, member: int, tolerance: float) -> TravelSolver:
    kernel = every.transitions
    return TravelSolver(
        kernel.indptr,
        kernel.indices,
        kernel.values[member],
        kernel.n_actions,
        tolerance,
    )


def _partial(
    every: SimulatorClass, member: int, target: int, tolerance: float
) -> Solved:
    """Solve among the states that can make sure of the target; inf elsewhere."""
    sure: SureStates = sure_states(every.transitions, member, target)
    times = np.full(every.n_states, np.inf)
    times[target] = 0.0
    if sure.states.size == 1:
        return Solved(target, times, 1.0, 1.0)
    solver = TravelSolver(
        sure.indptr, sure.indices, sure.values, sure.n_actions, tolerance
    )
    solved = solver.one(int(np.searchsorted(sure.states, target)))
    times[sure.states] = solved.times
    if solved.policy is None:
        return Solved(target, times, solved.low, solved.high)
    policy = np.zeros(every.n_states, np.int32)
    policy[sure.states] = sure.actions[np.arange(sure.states.size), solved.policy]
    return Solved(target, times, solved.low, solved.high, policy)


def _policy(every: SimulatorClass, member: int, solved: Solved) -> IndexArray:
    if solved.policy is not None:
        return solved.policy
    kernel = every.transitions
    out = np.empty(every.n_states, np.int32)
    greedy_travel_policy(
        kernel.indptr,
        kernel.indices,
        kernel.values[member],
        kernel.n_actions,
        solved.target,
        solved.times,
        out,
    )
    return out


def _apart(component: OffsetArray) -> tuple[int, int]:
    """Return a state and another that cannot be reached from it.

    Tarjan numbers components so that edges lead to equal or smaller numbers.
    """
    return int(np.argmin(component)), int(np.argmax(component))


def _check(tolerance: float) -> None:
    if not isinstance(tolerance, (int, float)) or not 1e-14 <= tolerance < 1.0:
        raise InvalidArgument(
            f"tolerance {tolerance!r} is out of range",
            hint="give a relative tolerance from 1e-14 to 1, such as 1e-9",
        )


def _require(
    solved: Solved, tolerance: float, every: SimulatorClass, member: int
) -> None:
    if not solved.high <= solved.low * (1.0 + tolerance) + 1e-14:
        finite = solved.times[np.isfinite(solved.times)]
        longest = float(finite.max(initial=0.0))
        raise _not_solved(
            solved.low * longest, solved.high * longest, tolerance, every, member
        )


def _as_divided(every: SimulatorClass) -> tuple[FloatArray, FloatArray]:
    """Return factors of lower and upper ends for rows divided by their sums, (M,).

    The solvers read a row as moves, with what they leave as the chance to stay. If rows
    sum to 1 up to d, dividing them scales the time spent in each state by as much.
    """
    off = 2.0 * every.transitions.row_defects
    return 1.0 - off, 1.0 + off


def _not_solved(
    lower: float, upper: float, tolerance: float, every: SimulatorClass, member: int
) -> NotSolved:
    upper = np.inf if np.isnan(upper) else upper
    return NotSolved(
        f"travel times of model {every.model_names[member]!r} were only bracketed in "
        f"[{float(lower)!r}, {float(upper)!r}], tolerance {tolerance} not met",
        hint="ask for a larger tolerance; a long row of unlikely steps may take longer "
        "than floats tell, which end at 1e308",
        result=(lower, upper),
    )
