"""Real models prepared for simulation: tables to draw from, and what each step costs.

For any function phi_h with phi_{H+1} = 0, V^pi = phi_1(s_1) + E sum_h (R + P phi_{h+1}
- phi_h)(s_h, a_h). Episodes are long, so phi is the gain and bias of the real model,
(H - h + 1) rho + l, up to the last few steps and V*_h from there on. The gap is then

    V*_H - H rho - l (s_1) + sum of rho + l - R - P l over the early steps
    + (l - W_L)(s where the last L steps begin) + sum of V*_h - Q*_h over those,

W_L = V*_L - L rho: an unbiased estimate from every episode, whatever L and the policy,
and almost without variance once the policy is the optimal one. Where a model has no
gain (it is not communicating), phi is V*_h on as many last steps as fit in memory and
zero before.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log2
from typing import final

import numpy as np

from simgap._kernels.walking.alias import fill_aliases
from simgap._kernels.walking.endings import Tails
from simgap._kernels.walking.walk import World
from simgap.arrays import BoolArray, FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument, NotSolved
from simgap.mdp import SimulatorClass
from simgap.planning import (
    AverageRewardPlan,
    checked_horizon,
    communicating,
    optimal_values,
    relative_values,
    solve_average_reward,
)
from simgap.simulation.observed import ObservedClass, RewardSignal

LAST_STEPS = 2048  # whose losses depend on the time left
LARGEST_TABLE = 2**27  # entries of losses that depend on the time
LARGEST_TAIL = 128  # states up to which powers of a chain are affordable


@final
@dataclass(frozen=True, slots=True, eq=False)
class RealModels:
    """The models in which episodes of H steps are run, on the edges an agent knows."""

    observed: ObservedClass  # the agent's
    simulators: SimulatorClass
    horizon: int
    has_gain: BoolArray  # (M,), whether regret means anything
    gain: FloatArray  # (M,), 0 without a gain
    potential: FloatArray  # (M, S), l or 0
    optimal: FloatArray  # (M,), V*_1 at the start
    ahead: FloatArray  # (M, S), V*_H - H rho - l
    last: FloatArray  # (M, L + 1, S), W_n with n steps left
    rounding: FloatArray  # (M,), what floating point can misstate about a gap

    def __len__(self) -> int:
        return len(self.simulators)

    def world(self, member: int) -> World:
        """Return the tables of one model."""
        observed, kernel = self.observed, self.simulators.transitions
        chances, paid = on_edges(observed, self.simulators, member)
        at = member if len(self.simulators.rewards) > 1 else 0
        rewards = self.simulators.rewards[at].reshape(-1)
        per_row = rewards - self.gain[member]
        ahead = _means(self.simulators, member, self.potential[member][:, None])[:, 0]
        n_actions = kernel.n_actions
        excess = np.repeat(self.potential[member], n_actions) - per_row - ahead
        table = self.last[member]
        later = _means(self.simulators, member, table[:-1].T)  # (S A, L)
        now = np.repeat(table[1:].T, n_actions, axis=0)
        late = np.ascontiguousarray((now - per_row[:, None] - later).T)
        widest = int(np.diff(observed.indptr).max())
        shift = max(1, ceil(log2(widest)))
        cells = (observed.indptr.size - 1) << shift
        cuts, pairs = np.empty(cells, np.uint64), np.empty(2 * cells, np.uint64)
        indptr, following = np.array(observed.indptr), np.array(observed.next_state)
        fill_aliases(indptr, following, chances, shift, cuts, pairs)
        return World(
            indptr=indptr,
            next_state=following,
            cuts=cuts,
            cells=pairs,
            shift=shift,
            reward=np.array(paid),
            excess=excess[observed.row],
            potential=np.array(self.potential[member]),
            late_potential=np.array(table[-1]),
            late_excess=late,
            early=self.horizon - (len(table) - 1),
            horizon=self.horizon,
            gain=float(self.gain[member]),
            start_law=np.array(self.simulators.start_law(member)),
            ahead=np.array(self.ahead[member]),
        )

    def tails(self, member: int, policies: IndexArray) -> Tails | None:
        """Return what P stationary policies (P, S) do in 2^j steps, if affordable."""
        n_states = self.simulators.n_states
        doublings = max(1, self.horizon.bit_length())
        if n_states > LARGEST_TAIL or not self.has_gain[member]:
            return None
        at = member if len(self.simulators.rewards) > 1 else 0
        dense = _dense(self.simulators, member)
        here = np.arange(n_states)
        powers = np.empty((len(policies), doublings, n_states, n_states))
        sums = np.empty((len(policies), doublings, n_states))
        power = dense[here, policies]
        total = self.simulators.rewards[at][here, policies] - self.gain[member]
        for j in range(doublings):
            powers[:, j], sums[:, j] = power, total
            total = total + (power @ total[..., None])[..., 0]
            power = power @ power
            power /= power.sum(axis=-1, keepdims=True)
        return Tails(powers, sums)


def real_models(
    observed: ObservedClass,
    real: SimulatorClass,
    horizon: int,
    *,
    average: AverageRewardPlan | None = None,
) -> RealModels:
    """Return models ready to be run; `average` saves planning them again."""
    horizon = checked_horizon(horizon)
    _check_fit(observed, real)
    members, n_states = len(real), real.n_states
    has_gain = communicating(real)
    plan = average
    if plan is None and has_gain.all():
        with suppress(NotSolved):  # no float carries its bias: no regret, but a gap
            plan = solve_average_reward(real)
    if plan is not None:
        affordable = LARGEST_TABLE // (members * n_states * real.n_actions)
        steps = max(0, min(horizon, LAST_STEPS, affordable))
        found = relative_values(real, horizon, plan, last_steps=steps)
        residual = plan.residual * (horizon - steps)
        return RealModels(
            observed=observed,
            simulators=real,
            horizon=horizon,
            has_gain=owned(has_gain),
            gain=owned(np.array(found.gain)),
            potential=owned(np.array(plan.bias)),
            optimal=owned(found.start + horizon * found.gain),
            ahead=owned(found.values - plan.bias),
            last=owned(np.array(found.last)),
            rounding=owned(found.error + residual),
        )
    return _without_gain(observed, real, horizon)


def _without_gain(
    observed: ObservedClass, real: SimulatorClass, horizon: int
) -> RealModels:
    members, n_states = len(real), real.n_states
    affordable = LARGEST_TABLE // (members * n_states * real.n_actions)
    steps = min(horizon, max(1, affordable)) if horizon else 0
    table = np.zeros((members, steps + 1, n_states))
    later = np.zeros((members, n_states))
    for n in range(1, steps + 1):
        for member in range(members):
            at = member if len(real.rewards) > 1 else 0
            means = _means(real, member, later[member][:, None])[:, 0]
            best = (real.rewards[at].reshape(-1) + means).reshape(n_states, -1)
            later[member] = best.max(axis=1)
        table[:, n] = later
    values = optimal_values(real, horizon)
    return RealModels(
        observed=observed,
        simulators=real,
        horizon=horizon,
        has_gain=owned(np.zeros(members, np.bool_)),
        gain=owned(np.zeros(members)),
        potential=owned(np.zeros((members, n_states))),
        optimal=owned(np.array(values.start)),
        ahead=owned(np.array(table[:, -1] if steps == horizon else values.values)),
        last=owned(table),
        rounding=owned(2.0 * values.error),
    )


def _check_fit(observed: ObservedClass, real: SimulatorClass) -> None:
    known = observed.simulators
    if real.n_states != known.n_states or real.n_actions != known.n_actions:
        raise InvalidArgument(
            f"the real models have {real.n_states} states and {real.n_actions} "
            f"actions, the agent was made for {known.n_states} and {known.n_actions}",
            hint="run it in models over the same states and actions",
        )
    if observed.signal is not RewardSignal.UNSEEN and real is not known:
        raise InvalidArgument(
            "an agent that sees rewards can only be run in the class it was made for",
            hint="run it in that class, or make it for unseen rewards",
        )


def on_edges(
    observed: ObservedClass, real: SimulatorClass, member: int
) -> tuple[FloatArray, FloatArray]:
    """Return chance and reward of every edge in one real model."""
    if real is observed.simulators:
        chances = np.array(observed.chances[member])
        return chances, np.array(observed.reward[member])
    kernel, width = real.transitions, real.n_states
    rows = np.repeat(np.arange(kernel.indptr.size - 1), np.diff(kernel.indptr))
    values = kernel.values[member]
    known = observed.row.astype(np.int64) * width + observed.next_state
    wanted = rows.astype(np.int64) * width + kernel.indices
    at = np.searchsorted(known, wanted)
    found = (at < known.size) & (known[np.minimum(at, known.size - 1)] == wanted)
    some = np.asarray(
        (observed.chances > 0.0).any(axis=0)
    )  # a stored zero is not a successor
    found[found] = some[at[found]]
    if (values[~found] > 0.0).any():
        row = int(rows[~found & (values > 0.0)][0])
        raise InvalidArgument(
            f"in state {row // real.n_actions}, action {row % real.n_actions}, the "
            f"real model {real.model_names[member]!r} goes where no model of the "
            "class goes",
            hint="agents count what the class allows; add such a model to the class",
        )
    chances = np.zeros(known.size)
    chances[at[found]] = values[found]
    rewards = real.rewards[member if len(real.rewards) > 1 else 0].reshape(-1)
    return chances, rewards[observed.row]


def _means(real: SimulatorClass, member: int, values: FloatArray) -> FloatArray:
    """Return P v for columns v of values (S, n), as (S A, n)."""
    from scipy.sparse import csr_array

    kernel = real.transitions
    matrix = csr_array(
        (kernel.values[member], kernel.indices, kernel.indptr),
        shape=(kernel.indptr.size - 1, kernel.n_states),
    )
    return np.asarray(matrix @ values)


def _dense(real: SimulatorClass, member: int) -> FloatArray:
    kernel = real.transitions
    dense = np.zeros((kernel.indptr.size - 1, kernel.n_states))
    rows = np.repeat(np.arange(kernel.indptr.size - 1), np.diff(kernel.indptr))
    dense[rows, kernel.indices] = kernel.values[member]
    return dense.reshape(kernel.n_states, kernel.n_actions, -1)
