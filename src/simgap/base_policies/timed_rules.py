"""The H-step optimal policy of every model, by steps left and in little memory.

pi_ep changes with the number n of steps left (errata E3). As n grows the changes end:
the values minus n rho approach a cycle, mostly of length one. Rules are stored as runs,
up to the n at which the values repeat to the last bit; with more steps left the rules
of the last period are repeated. Ties: a rule takes the lowest action within rounding of
the best, so that following the rules loses at most `slack` per step.

W_n = V*_n - n g, g the gain of the plan, is kept beside them where it fits: it is what
remains to be earned, above g per step, by an agent that has found the real model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.solving.timed_rules import DONE, PERIOD, back_with_rules
from simgap._kernels.walking.endings import stored_left
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.base_policies.knowledge import ClassKnowledge
from simgap.errors import InvalidArgument
from simgap.intervals import EPS
from simgap.planning import checked_horizon, rewards_of

CHUNK = 4096  # steps between two chances to interrupt
MOST_RULES = 2**26  # entries of all rules: a quarter of a gigabyte
MOST_VALUES = 2**24  # entries of all W


@final
@dataclass(frozen=True, slots=True, eq=False)
class TimedRules:
    """pi_ep of every model as runs of rules, and what it is worth."""

    horizon: int
    known: OffsetArray  # (M,), N: rules are stored for 1..N steps left
    period: OffsetArray  # (M,), with more left they repeat; 0 where N = H
    since: tuple[OffsetArray, ...]  # M of (K,), fewest steps left of each run
    rules: tuple[IndexArray, ...]  # M of (K, S)
    slack: FloatArray  # (M,), what one step may lose to rounding
    values: tuple[FloatArray | None, ...]  # M of (N + 1, S), W_n, where it fits
    drift: FloatArray  # (M,), of W per period: the error of g

    def rule(self, member: int, left: int) -> IndexArray:
        """Return the actions (S,) of one model with some steps left."""
        if not 1 <= left <= self.horizon:
            raise InvalidArgument(
                f"{left} steps left of {self.horizon}", hint="from 1 to the horizon"
            )
        known, period = int(self.known[member]), int(self.period[member])
        stored = stored_left(left, known, period)
        at = int(np.searchsorted(self.since[member], stored, side="right")) - 1
        return np.asarray(self.rules[member][at])

    def worth(self, member: int, left: int) -> FloatArray | None:
        """Return W_n (S,) of one model with n steps left, if it is kept."""
        table = self.values[member]
        if table is None:
            return None
        known, period = int(self.known[member]), int(self.period[member])
        stored = stored_left(left, known, period)
        turns = (left - stored) // period if stored < left else 0
        return np.asarray(table[stored] + turns * self.drift[member])


def timed_rules(known: ClassKnowledge, horizon: int) -> TimedRules:
    """Return the optimal policy over H steps of every model (Section 3.1)."""
    horizon = checked_horizon(horizon)
    members = len(known.simulators)
    parts = [_of_model(known, member, horizon) for member in range(members)]
    return TimedRules(
        horizon=horizon,
        known=owned(np.array([p.known for p in parts], np.int64)),
        period=owned(np.array([p.period for p in parts], np.int64)),
        since=tuple(p.since for p in parts),
        rules=tuple(p.rules for p in parts),
        slack=owned(np.array([_slack(known, m) for m in range(members)])),
        values=tuple(p.values for p in parts),
        drift=owned(np.array([p.drift for p in parts])),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    known: int
    period: int
    since: OffsetArray
    rules: IndexArray
    values: FloatArray | None
    drift: float


def _of_model(known: ClassKnowledge, member: int, horizon: int) -> _Part:
    every = known.simulators
    kernel, n_states, members = every.transitions, every.n_states, len(every)
    rewards, slack = rewards_of(every, member), _slack(known, member)
    gain = float(known.gain[member])
    marks, level = np.zeros(3, np.int64), np.zeros(1)
    now, snapshot = np.zeros(n_states), np.full(n_states, np.nan)
    rule = np.full(n_states, -1, np.int32)
    since, rules = [np.zeros(0, np.int64)], [np.zeros((0, n_states), np.int32)]
    tables = [np.zeros((1, n_states))]
    runs, rows = 0, 1
    while marks[DONE] < horizon and marks[PERIOD] == 0:
        count = min(CHUNK, horizon - int(marks[DONE]))
        fits = members * (rows + count) * n_states <= MOST_VALUES
        begins, changed = np.empty(count, np.int64), np.empty((count, n_states), "i4")
        table = np.empty((count if fits else 0, n_states))
        taken, changes = back_with_rules(
            kernel.indptr,
            kernel.indices,
            kernel.values[member],
            rewards,
            kernel.n_actions,
            gain,
            slack,
            count,
            marks,
            level,
            now,
            snapshot,
            rule,
            begins,
            changed,
            table,
        )
        since.append(begins[:changes].copy())
        rules.append(changed[:changes].copy())
        tables.append(table[:taken].copy())
        runs, rows = runs + changes, rows + len(tables[-1])
        if members * runs * n_states > MOST_RULES:
            raise InvalidArgument(
                f"the optimal policy of model {every.model_names[member]!r} changes "
                f"{runs} times within its last {int(marks[DONE])} steps, and goes on",
                hint="ask for a shorter horizon, or fewer models",
            )
    kept, done = rows == int(marks[DONE]) + 1, int(marks[DONE])
    values = np.concatenate(tables) if kept else None
    period = int(marks[PERIOD])
    drift = 0.0
    if values is not None and period > 0:
        drift = float(values[done, 0] - values[done - period, 0])
    return _Part(
        known=done,
        period=period,
        since=owned(np.concatenate(since)),
        rules=owned(np.concatenate(rules)),
        values=None if values is None else owned(values),
        drift=drift,
    )


def _slack(known: ClassKnowledge, member: int) -> float:
    """Return a bound of what rounding does to the values of actions in one backup."""
    every = known.simulators
    longest = int(np.diff(every.transitions.indptr).max())
    reward = float(np.abs(rewards_of(every, member)).max())
    span = float(known.average.bias_span[member])  # V_n spans at most twice as much
    return 16.0 * (longest + 3) * EPS * (reward + 2.0 * span)
