"""Optimal control over H steps (Section 3.1): V*, Q*, and values of Markov policies.

Exactly H rewards are collected. Numbers are exact up to rounding, and `error` bounds
the rounding: each of the H backups adds at most (b + 3) u (|R| + |V|), b the longest
row and u the unit of rounding, and a backup never enlarges an error. Rows that do not
sum to 1 exactly add their defect times |V| (`intervals` says what a model is).

Ties: the policy takes the lowest action whose Q is within rounding of the best; its own
value is within 4 `error` of the optimal one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from simgap._kernels.solving.episodic import (
    action_values,
    follow_actions,
    follow_mixture,
    greedy_backward_steps,
    wide_backward_steps,
)
from simgap._kernels.solving.lanes import LANES
from simgap._kernels.solving.state_lanes import backward_steps
from simgap._kernels.time_limit import pieces
from simgap.arrays import FloatArray, IndexArray, OffsetArray, aligned, owned
from simgap.errors import InvalidArgument
from simgap.intervals import EPS, around, defect
from simgap.mdp import SimulatorClass, TabularMDP
from simgap.planning.connectivity import as_class
from simgap.planning.lane_blocks import (
    WIDE_FROM,
    blocks,
    rewards_of,
    side_by_side,
    state_lanes,
    wide_rewards,
)

LONGEST_HORIZON = 10**9
LARGEST_PLAN = 2**31  # entries of a value table


@final
@dataclass(frozen=True, slots=True, eq=False)
class EpisodicValues:
    """Values at the first step; |stored - true| <= error."""

    horizon: int
    values: FloatArray  # (M, S)
    start: FloatArray  # (M,), the mean over the start law of each model
    error: FloatArray  # (M,)

    @property
    def start_ends(self) -> FloatArray:
        """Return numbers that enclose the values at the start, (M, 2)."""
        return around(self.start, self.error)


@final
@dataclass(frozen=True, slots=True, eq=False)
class EpisodicPlan:
    """V*_h and a greedy policy for every step h = 1..H (index h - 1)."""

    horizon: int
    values: FloatArray  # (M, H + 1, S), the last is V_{H+1} = 0
    policy: IndexArray  # (M, H, S)
    start: FloatArray  # (M,)
    error: FloatArray  # (M,)
    simulators: SimulatorClass

    def action_values(self, member: int, step: int) -> FloatArray:
        """Return Q*_h of one model at step h = 1..H, as (S, A)."""
        if not 1 <= step <= self.horizon:
            raise InvalidArgument(
                f"step {step} of {self.horizon}", hint="steps are numbered 1 to H"
            )
        kernel = self.simulators.transitions
        out = np.empty(kernel.n_states * kernel.n_actions)
        action_values(
            kernel.indptr,
            kernel.indices,
            kernel.values[member],
            rewards_of(self.simulators, member),
            self.values[member, step],
            out,
        )
        return out.reshape(kernel.n_states, kernel.n_actions)


def optimal_values(
    simulators: SimulatorClass | TabularMDP, horizon: int
) -> EpisodicValues:
    """Return V*_1 of every model, in memory for a copy of the models being swept."""
    every, horizon = as_class(simulators), checked_horizon(horizon)
    values = np.empty((len(every), every.n_states))
    for block in blocks(len(every)):
        if len(block) >= WIDE_FROM:
            values[block.start : block.stop] = _wide_optimal(every, block, horizon)
        else:
            for member in block:
                values[member] = _optimal(every, member, horizon)
    return values_with_error(every, values, horizon)


def solve_episodic(
    simulators: SimulatorClass | TabularMDP, horizon: int
) -> EpisodicPlan:
    """Return V*_h, h = 1..H+1, and a greedy policy for every model."""
    every, horizon = as_class(simulators), checked_horizon(horizon)
    check_table_of_values(every, horizon)
    members = len(every)
    values = np.zeros((members, horizon + 1, every.n_states))
    policy = np.empty((members, horizon, every.n_states), np.int32)
    reach, longest = _largest_reward(every), every.transitions.longest_row
    for member in range(members):
        model = _arrays(every, member)
        slack = 2.0 * (longest + 3) * EPS * float(reach[member])
        table = values[member], policy[member]
        for done in pieces(horizon, every.transitions.nonzeros):
            steps = horizon - done.stop, horizon - done.start
            greedy_backward_steps(*model, slack, *steps, *table)
    first = values_with_error(every, values[:, 0], horizon)
    return EpisodicPlan(
        horizon, owned(values), owned(policy), first.start, first.error, every
    )


def policy_values(
    simulators: SimulatorClass | TabularMDP, policy: npt.ArrayLike, horizon: int
) -> EpisodicValues:
    """Return V^pi_1 of one Markov policy in every model.

    The policy is a table of actions (S,) or (H, S), or of action probabilities (S, A)
    or (H, S, A); without the first axis it is the same at every step. It is one policy
    for all models: to evaluate a policy per model, call this model by model.
    """
    every, horizon = as_class(simulators), checked_horizon(horizon)
    table = checked_policy(policy, every, horizon)
    values = np.zeros((len(every), every.n_states))
    spare = np.empty(every.n_states)
    follow = follow_actions if table.dtype.kind == "i" else follow_mixture
    stationary = table.shape[0] == 1
    for member in range(len(every)):
        model, steps = _arrays(every, member), horizon if stationary else 1
        for step in range(0 if stationary else horizon - 1, -1, -1):
            whole = (*model, table[step])
            _sweep(every, follow, whole, steps, values[member], spare)
    averaged = 0 if table.dtype.kind == "i" else every.n_actions
    return values_with_error(every, values, horizon, averaged)


def check_table_of_values(every: SimulatorClass, horizon: int) -> None:
    """Raise if a table of every step, state and model is beyond all memory."""
    if len(every) * (horizon + 1) * every.n_states > LARGEST_PLAN:
        raise InvalidArgument(
            f"a table of values for {len(every)} models, {every.n_states} states and "
            f"horizon {horizon} does not fit",
            hint="optimal_values(...) needs no table; or plan fewer models at a time",
        )


def checked_horizon(horizon: int) -> int:
    """Return a horizon as an int from 0 to 10^9, or raise."""
    if isinstance(horizon, bool) or not isinstance(horizon, (int, np.integer)):
        raise InvalidArgument(
            f"horizon {horizon!r} is not a whole number", hint="give H >= 0"
        )
    if not 0 <= horizon <= LONGEST_HORIZON:
        raise InvalidArgument(
            f"horizon {horizon} is out of range",
            hint=f"give 0 <= H <= {LONGEST_HORIZON}",
        )
    return int(horizon)


def start_rounding(every: SimulatorClass) -> float:
    """Return what the mean over the first state can be off, as a part of the values."""
    if every.start.ndim == 1:
        return 0.0
    terms = int((every.start > 0.0).sum(axis=1).max())
    return (terms + 1) * EPS + start_defect(every)


def start_defect(every: SimulatorClass) -> float:
    """Return how far the sum of a law of the first state is from 1, at most."""
    if every.start.ndim == 1:
        return 0.0
    return max(defect(law[law > 0.0].tolist()) for law in every.start)


def _optimal(every: SimulatorClass, member: int, horizon: int) -> FloatArray:
    wide = state_lanes(every.transitions, member)
    rewards = wide_rewards(wide, rewards_of(every, member), every.n_actions)
    now, spare = aligned((2, wide.state.size))
    model = (wide, rewards, every.n_actions)
    _sweep(every, backward_steps, model, horizon, now, spare)
    values: FloatArray = now[wide.lane]
    return values


def _wide_optimal(every: SimulatorClass, block: range, horizon: int) -> FloatArray:
    kernel = every.transitions
    model = (
        kernel.indptr, kernel.indices, *side_by_side(every, block), kernel.n_actions
    )  # fmt: skip
    now, spare = aligned((2, every.n_states, LANES))
    _sweep(every, wide_backward_steps, model, horizon, now, spare)
    first: FloatArray = now[:, : len(block)].T
    return first


def _arrays(
    every: SimulatorClass, member: int
) -> tuple[OffsetArray, IndexArray, FloatArray, FloatArray, int]:
    """Return one model as kernels take it: rows, successors, chances, rewards, A."""
    kernel = every.transitions
    chances, rewards = kernel.values[member], rewards_of(every, member)
    return kernel.indptr, kernel.indices, chances, rewards, kernel.n_actions


def _sweep(
    every: SimulatorClass,
    kernel: Callable[..., None],
    model: tuple[Any, ...],
    steps: int,
    now: FloatArray,
    spare: FloatArray,
) -> None:
    """Apply a backward step to `now`, in place; limits are heard between two chunks."""
    for piece in pieces(steps, every.transitions.nonzeros):
        kernel(*model, piece.stop - piece.start, now, spare)


def _largest_reward(every: SimulatorClass) -> FloatArray:
    largest: FloatArray = np.abs(every.reward_ends).max(axis=0)
    return largest


def values_with_error(
    every: SimulatorClass, values: FloatArray, horizon: int, averaged: int = 0
) -> EpisodicValues:
    """Return the values with the bound of their rounding, after a check of range.

    `averaged` counts the actions that a random policy takes the mean of.
    """
    longest = every.transitions.longest_row + (averaged + 2 if averaged else 0)
    largest = _largest_reward(every)
    # Sum over steps of (b + 3) u times the greatest value so far, at most h max|R|.
    per_step = (longest + 3) * EPS + every.transitions.row_defects
    error = per_step * largest * horizon * (horizon + 1) / 2.0
    error = error + start_rounding(every) * largest * horizon
    low, high = every.reward_ends
    room = error + EPS * largest * horizon
    if (values.min(axis=1) < horizon * low - room).any() or (
        values.max(axis=1) > horizon * high + room
    ).any():
        raise AssertionError("a value left [H min R, H max R]: a defect of the solver")
    return EpisodicValues(
        horizon=horizon,
        values=owned(np.array(values)),
        start=owned(every.at_start(values)),
        error=owned(np.array(error)),
    )


def checked_policy(
    policy: npt.ArrayLike, every: SimulatorClass, horizon: int
) -> npt.NDArray[np.int32] | FloatArray:
    """Return a policy as a table (T, S) of actions or (T, S, A) of their chances."""
    given = np.asarray(policy)
    n_states, n_actions = every.n_states, every.n_actions
    if given.dtype.kind in "iu" and given.shape in ((n_states,), (horizon, n_states)):
        table = given.reshape(-1, n_states)
        wrong = (table < 0) | (table >= n_actions)
        if wrong.any():
            step, state = (int(i) for i in np.argwhere(wrong)[0])
            raise InvalidArgument(
                f"the policy plays action {table[step, state]} in state {state}",
                hint=f"actions are numbered 0 to {n_actions - 1}",
            )
        return table.astype(np.int32)
    shapes = ((n_states, n_actions), (horizon, n_states, n_actions))
    if given.dtype.kind == "f" and given.shape in shapes:
        mixture = given.astype(np.float64).reshape(-1, n_states, n_actions)
        off = np.abs(mixture.sum(axis=2) - 1.0) > 1e-9
        if not np.isfinite(mixture).all() or (mixture < 0.0).any() or off.any():
            raise InvalidArgument(
                "the policy has a row that is not a distribution over actions",
                hint="each row of action probabilities is >= 0 and sums to 1",
            )
        return np.asarray(mixture / mixture.sum(axis=2, keepdims=True))
    raise InvalidArgument(
        f"a policy of shape {given.shape} and type {given.dtype} for {n_states} "
        f"states, {n_actions} actions and horizon {horizon}",
        hint="give actions (S,) or (H, S), or probabilities (S, A) or (H, S, A); a "
        "policy per model is evaluated model by model: worlds[m], policy[m]",
    )
