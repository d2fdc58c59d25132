"""What one policy is worth in every model: V^pi_h and Q^pi_h, and its gain.

The gain of a stationary policy (Definition 2) is its average reward over a time without
end. On a closed class of its chain it is one number, and for every function v it is
between the least and the greatest entry of R + P v - v there. A state from which the
chain is drawn into several classes has the mean of their gains, g = P g: a residual e
of this equation moves g by at most e times the expected steps until a class is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, owned
from simgap.errors import InvalidArgument, NotSolved
from simgap.intervals import EPS
from simgap.mdp import SimulatorClass, TabularMDP
from simgap.planning.connectivity import as_class
from simgap.planning.episodic import (
    check_table_of_values,
    checked_horizon,
    checked_policy,
    values_with_error,
)
from simgap.planning.lane_blocks import rewards_of

LARGEST_CHAIN = 5000  # states; a dense (S, S) array


@final
@dataclass(frozen=True, slots=True, eq=False)
class PolicyValues:
    """V^pi_h and Q^pi_h for every step h = 1..H (index h - 1), within `error`."""

    horizon: int
    values: FloatArray  # (M, H + 1, S), the last is V_{H+1} = 0
    start: FloatArray  # (M,), the mean of V_1 over the start law of each model
    error: FloatArray  # (M,)
    simulators: SimulatorClass

    def action_values(self, member: int, step: int) -> FloatArray:
        """Return Q^pi_h of one model at step h = 1..H, as (S, A)."""
        if not 1 <= step <= self.horizon:
            raise InvalidArgument(
                f"step {step} of {self.horizon}", hint="steps are numbered 1 to H"
            )
        return _backed_up(self.simulators, member, self.values[member, step])


@final
@dataclass(frozen=True, slots=True, eq=False)
class PolicyGain:
    """The average reward of a stationary policy from every state, between two ends."""

    lower: FloatArray  # (M, S)
    upper: FloatArray  # (M, S)


def policy_values_by_step(
    simulators: SimulatorClass | TabularMDP, policy: npt.ArrayLike, horizon: int
) -> PolicyValues:
    """Return V^pi_h and Q^pi_h of one Markov policy at every step (Section 3.1).

    The policy is one for all models, a table as `policy_values` takes it.
    """
    every, horizon = as_class(simulators), checked_horizon(horizon)
    check_table_of_values(every, horizon)
    chances = _chances(checked_policy(policy, every, horizon), every.n_actions)
    values = np.zeros((len(every), horizon + 1, every.n_states))
    for member in range(len(every)):
        for h in range(horizon - 1, -1, -1):
            check_time()
            backed_up = _backed_up(every, member, values[member, h + 1])
            own = chances[min(h, len(chances) - 1)]
            values[member, h] = (own * backed_up).sum(axis=1)
    first = values_with_error(every, values[:, 0], horizon, every.n_actions)
    return PolicyValues(horizon, owned(values), first.start, first.error, every)


def policy_gain(
    simulators: SimulatorClass | TabularMDP, policy: npt.ArrayLike
) -> PolicyGain:
    """Return the gain of one stationary policy in every model (Definition 2).

    The policy is a table of actions (S,) or of action probabilities (S, A).
    """
    every = as_class(simulators)
    if every.n_states > LARGEST_CHAIN:
        raise NotSolved(
            f"the gain of a policy over {every.n_states} states",
            hint=f"chains of up to {LARGEST_CHAIN} states are solved",
        )
    chances = _chances(checked_policy(policy, every, 1), every.n_actions)[0]
    ends = np.empty((2, len(every), every.n_states))
    for member in range(len(every)):
        check_time()
        kernel = every.transitions.array(member)
        rewards = rewards_of(every, member).reshape(every.n_states, every.n_actions)
        chain = np.einsum("sa,sat->st", chances, kernel)
        paid = (chances * rewards).sum(axis=1)
        defect = float(every.transitions.row_defects[member])
        ends[:, member] = _gain(chain, paid, defect + 8.0 * every.n_actions * EPS)
    return PolicyGain(owned(ends[0]), owned(ends[1]))


def _gain(chain: FloatArray, paid: FloatArray, defect: float) -> FloatArray:
    """Return the two ends of the gain of a chain from every state, (2, S)."""
    from scipy.sparse.csgraph import connected_components

    size = paid.size
    _, label = connected_components(chain > 0.0, connection="strong")
    leaves = np.zeros(size, np.bool_)
    for source, target in np.argwhere(chain > 0.0):
        leaves[label[source]] |= label[source] != label[target]
    transient = leaves[label]
    ends = np.zeros((2, size))
    unit = (size + 4) * EPS + defect
    for each in np.unique(label[~transient]):
        inside = np.flatnonzero(label == each)
        both = _of_class(chain[np.ix_(inside, inside)], paid[inside], unit)
        ends[0, inside], ends[1, inside] = both
    if not transient.any():
        return ends
    among = chain[np.ix_(transient, transient)]
    into = chain[np.ix_(transient, ~transient)] @ ends[:, ~transient].T  # (T, 2)
    system = np.eye(len(among)) - among
    drawn = np.linalg.solve(system, into)
    steps = np.linalg.solve(system, np.ones(len(among)))
    if not (steps - among @ steps >= 0.5).all():
        raise NotSolved(
            "a chain stays among states that it leaves for too long for floats",
            hint="start the policy in a state that it comes back to",
        )
    off = np.abs(drawn - among @ drawn - into).max()
    off += unit * (1.0 + float(np.abs(ends).max()) + float(np.abs(drawn).max()))
    slack = 2.0 * steps * off
    ends[0, transient] = drawn[:, 0] - slack
    ends[1, transient] = drawn[:, 1] + slack
    return ends


def _of_class(chain: FloatArray, paid: FloatArray, unit: float) -> tuple[float, float]:
    """Return the ends of the gain of a closed class, from its relative values."""
    system = np.eye(paid.size) - chain
    system[:, 0] = 1.0  # v of the first state is 0, and its column is the gain's
    solution = np.linalg.solve(system, paid)
    relative = np.concatenate([[0.0], solution[1:]])
    per_step = paid + chain @ relative - relative
    noise = unit * (float(np.abs(paid).max()) + 2.0 * float(np.abs(relative).max()))
    return float(per_step.min()) - noise, float(per_step.max()) + noise


def _chances(table: npt.NDArray[np.int32] | FloatArray, n_actions: int) -> FloatArray:
    """Return a checked table as action probabilities (T, S, A)."""
    if table.dtype.kind == "f":
        return np.asarray(table, np.float64)
    return np.asarray(np.eye(n_actions)[table])


def _backed_up(every: SimulatorClass, member: int, later: FloatArray) -> FloatArray:
    """Return R + P V of one model, (S, A)."""
    kernel = every.transitions
    terms = kernel.values[member] * later[kernel.indices]
    rows = np.add.reduceat(terms, kernel.indptr[:-1])
    shape = kernel.n_states, kernel.n_actions
    return (rows + rewards_of(every, member).ravel()).reshape(shape)
