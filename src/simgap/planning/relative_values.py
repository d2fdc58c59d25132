"""Optimal values over n steps beside n times the gain (Lemma 2, theory 4.2).

W_n(s) = V*_n(s) - n g for n steps to go, g the gain of the plan as it is stored:
W_{n+1} = max_a (R - g) + P W_n. Theory 4.2 has l - max l <= W_n <= l - min l, so W
stays as small as the span of the bias, and a backup rounds by a part of the span where
V* itself would round by a part of H.

`error` bounds the rounding of all H backups; rows of the stored model count as divided
by their sums. It does not include the error of the gain: V*_n = W_n + n g holds for the
g given here, and the true gain differs from g by at most the width of the plan's
bracket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.solving.state_lanes import StateLanes, backward_steps
from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, aligned, owned
from simgap.errors import InvalidArgument
from simgap.intervals import EPS
from simgap.mdp import SimulatorClass, TabularMDP
from simgap.planning.average_reward import AverageRewardPlan
from simgap.planning.connectivity import as_class
from simgap.planning.episodic import checked_horizon
from simgap.planning.lane_blocks import rewards_of, state_lanes, wide_rewards

CHUNK = 4096  # steps between two chances to interrupt
LARGEST_TABLE = 2**31  # entries


@final
@dataclass(frozen=True, slots=True, eq=False)
class RelativeValues:
    """V*_1 - H g of every model; |stored - true| <= error."""

    horizon: int
    values: FloatArray  # (M, S), W_H
    start: FloatArray  # (M,), the mean of W_H over the start law of each model
    error: FloatArray  # (M,)
    gain: FloatArray  # (M,), the g that was taken away at every step
    last: FloatArray  # (M, L + 1, S): W_n for n = 0..L steps to go, W_0 = 0


def relative_values(
    simulators: SimulatorClass | TabularMDP,
    horizon: int,
    plan: AverageRewardPlan,
    *,
    last_steps: int = 0,
) -> RelativeValues:
    """Return V*_1 - H g of every model, g the gain of its plan (theory 4.2).

    `last_steps` asks for the values with at most that many steps to go as well.
    """
    every, horizon = as_class(simulators), checked_horizon(horizon)
    _check_plan(every, plan)
    _check_last_steps(every, last_steps, horizon)
    kernel, gain = every.transitions, np.array(plan.gain)
    values = np.zeros((len(every), every.n_states))
    last = np.zeros((len(every), last_steps + 1, every.n_states))
    for member in range(len(every)):
        shifted = rewards_of(every, member) - gain[member]
        wide = state_lanes(kernel, member)
        model = (
            wide,
            wide_rewards(wide, shifted, kernel.n_actions),
            kernel.n_actions,
        )
        now, spare = aligned((2, wide.state.size))
        for steps in range(1, last_steps + 1):
            backward_steps(*model, 1, now, spare)
            last[member, steps] = now[wide.lane]
        _back(model, horizon - last_steps, now, spare)
        values[member] = now[wide.lane]
    error = _rounding(every, horizon, plan)
    reach = _reach(horizon, plan)
    if (np.abs(values) > (reach + error)[:, None]).any():
        raise AssertionError("V* - H rho left the span of the bias: a defect")
    return RelativeValues(
        horizon=horizon,
        values=owned(values),
        start=owned(every.at_start(values)),
        error=owned(error),
        gain=owned(gain),
        last=owned(last),
    )


def _back(
    model: tuple[StateLanes, FloatArray, int],
    steps: int,
    now: FloatArray,
    spare: FloatArray,
) -> None:
    """Apply W <- max_a (R - g) + P W in place; a fixed point ends it early."""
    while steps > 0:
        check_time()
        count = min(CHUNK, steps)
        backward_steps(*model, count, now, spare)
        steps -= count
        if steps > 0:
            before = now.copy()
            backward_steps(*model, 1, now, spare)
            steps -= 1
            if (now == before).all():
                return  # further steps repeat this one, to the last digit


def _reach(horizon: int, plan: AverageRewardPlan) -> FloatArray:
    """Return a bound of |W_n|, n <= H: l - sp(l) - n e <= W_n <= l + n e, (M,).

    e is the plan's residual: T l is within it of g + l.
    """
    reach: FloatArray = plan.bias_span + horizon * plan.residual
    return reach


def _rounding(
    every: SimulatorClass, horizon: int, plan: AverageRewardPlan
) -> FloatArray:
    """Return a bound of what H backups and the mean over the start round, (M,).

    A backup is off by at most c (max |R - g| + max |W|), W as it was computed, so
    the errors satisfy e' <= e + c (r + w + e) and stay below (exp(H c) - 1) (r + w).
    """
    kernel = every.transitions
    longest = kernel.longest_row
    sums = np.stack([np.add.reduceat(row, kernel.indptr[:-1]) for row in kernel.values])
    defect = np.abs(sums - 1.0).max(axis=1) + longest * EPS
    per_step = (longest + 3) * EPS + defect
    by_model = np.broadcast_to(every.rewards, (len(every), *every.rewards.shape[1:]))
    reward = np.abs(by_model - plan.gain[:, None, None]).max(axis=(1, 2))
    size = reward + _reach(horizon, plan)
    at_start = 0.0 if every.start.ndim == 1 else 8.0 * every.n_states * EPS
    error: FloatArray = (np.expm1(horizon * per_step) + at_start) * size
    return error


def _check_plan(every: SimulatorClass, plan: AverageRewardPlan) -> None:
    known = plan.simulators
    if every is known:
        return
    ours, theirs = every.transitions, known.transitions
    same = len(every) == len(known) and every.rewards.shape == known.rewards.shape
    if (
        not same
        or not np.array_equal(ours.indptr, theirs.indptr)
        or not np.array_equal(ours.indices, theirs.indices)
        or not np.array_equal(ours.values, theirs.values)
        or not np.array_equal(every.rewards, known.rewards)
    ):
        raise InvalidArgument(
            f"the plan is of other models: {len(known)} of {known.n_states} states, "
            f"here {len(every)} of {every.n_states} states",
            hint="plan the same class: solve_average_reward(simulators)",
        )


def _check_last_steps(every: SimulatorClass, last_steps: int, horizon: int) -> None:
    whole = isinstance(last_steps, (int, np.integer)) and last_steps is not True
    if not whole or not 0 <= last_steps <= horizon:
        raise InvalidArgument(
            f"last_steps {last_steps!r} of {horizon} steps",
            hint="ask for a whole number from 0 to the horizon",
        )
    if len(every) * (last_steps + 1) * every.n_states > LARGEST_TABLE:
        raise InvalidArgument(
            f"a table of {last_steps} steps for {len(every)} models of "
            f"{every.n_states} states does not fit",
            hint="ask for fewer last steps",
        )
