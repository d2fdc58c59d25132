"""Gain and bias by Howard's policy iteration, however slowly the chains mix.

A policy is changed so that it has one recurrent class (the best of its classes, to
which other states are sent). It is evaluated by `PolicyChain`, and the result is
improved in double-double, where an improvement can be distinguished from rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.solving.average_reward import greedy_actions, improvement_sweep
from simgap._kernels.solving.double_double import add_to_wide, minus_wide, wide_sum
from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.errors import NotCommunicating
from simgap.intervals import EPS
from simgap.mdp import SimulatorClass
from simgap.planning.policy_chain import (
    Moves,
    PolicyChain,
    elimination_order,
    first_best,
    often_visited,
    paths_to,
)

MOST_ROUNDS = 1000
MOST_CORRECTIONS = 6
IMPROVEMENT = 1e-13  # of the spread of rewards: less is a tie


@final
@dataclass(frozen=True, slots=True, eq=False)
class ExactGain:
    """A bracket of the gain from R + P h - h in double-double, and h."""

    lower: float
    upper: float
    bias: FloatArray  # (S,)
    policy: IndexArray  # (S,), the first action within rounding of the best


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Evaluation:
    chain: PolicyChain
    policy: IndexArray
    reference: int
    waiting: FloatArray  # (S,), expected times to the reference state
    bias: FloatArray  # (S,)
    gain: float


def exact_gain(
    every: SimulatorClass,
    member: int,
    rewards: FloatArray,
    guess: FloatArray,
) -> ExactGain:
    """Return gain and bias; `guess` is any bias, perhaps from unfinished sweeps."""
    kernel = every.transitions
    values = kernel.values[member]
    moves = Moves.of(kernel.indptr, kernel.indices, values, kernel.n_actions)
    order = elimination_order(moves)
    starts = [
        _greedy_start(every, member, rewards, guess),
        _richest_start(moves, rewards),
    ]
    evaluations = [_evaluate(moves, rewards, policy, order) for policy in starts]
    current = max(evaluations, key=lambda item: _or_least(item.gain))
    unit = float(rewards.max() - rewards.min()) or 1.0
    everyone = np.arange(every.n_states)
    for _ in range(MOST_ROUNDS):
        check_time()
        table, result = _sharpen(moves, rewards, current, unit)
        best = table.argmax(axis=1)
        now = table[everyone, current.policy]
        switch = table[everyone, best] > now + IMPROVEMENT * unit
        if not switch.any():
            break
        policy = np.where(switch, best, current.policy).astype(np.int32)
        current = _evaluate(moves, rewards, policy, order)
    return result


def _or_least(gain: float) -> float:
    """Return the gain, or minus infinity if a hopeless policy overflowed."""
    return gain if np.isfinite(gain) else -np.inf


def _sharpen(
    moves: Moves, rewards: FloatArray, evaluation: _Evaluation, unit: float
) -> tuple[FloatArray, ExactGain]:
    """Return all advantages (S, A) and the bracket, from a bias good to 30 digits."""
    n_states, n_actions = moves.n_states, moves.n_actions
    rows = np.arange(n_states) * n_actions + evaluation.policy
    high, low = np.array(evaluation.bias), np.zeros(n_states)
    gain, gain_low = evaluation.gain, 0.0
    for _ in range(MOST_CORRECTIONS):
        check_time()
        wide = moves.advantages(rewards, high, low)
        defect = minus_wide(wide.high[rows], wide.low[rows], gain, gain_low)
        if np.abs(defect).max() <= 1e-3 * IMPROVEMENT * unit:
            break
        change, shift = _correction(moves, evaluation, defect)
        add_to_wide(high, low, change)
        gain, gain_low = wide_sum(gain, gain_low, shift, 0.0)
    table = (wide.high + wide.low).reshape(n_states, n_actions)
    noise = wide.noise.reshape(n_states, n_actions) + EPS * np.abs(table)
    lower = float((table - noise).max(axis=1).min())
    upper = float((table + noise).max())
    policy = first_best(table, IMPROVEMENT * unit)
    return table, ExactGain(lower, upper, high, policy)


def _correction(
    moves: Moves, evaluation: _Evaluation, defect: FloatArray
) -> tuple[FloatArray, float]:
    """Return the change of bias and gain that removes `defect`."""
    part = evaluation.chain.solve(defect)
    successors, weights = _row(moves, evaluation.policy, evaluation.reference)
    waiting = evaluation.waiting
    shift = (defect[evaluation.reference] + weights @ part[successors]) / (
        1.0 + weights @ waiting[successors]
    )
    with np.errstate(invalid="ignore"):  # NaN where a time is no float: not solved
        return part - shift * waiting, float(shift)


def _evaluate(
    moves: Moves, rewards: FloatArray, policy: IndexArray, order: OffsetArray
) -> _Evaluation:
    """Evaluate a policy after making its best recurrent class its only one."""
    policy, members = _one_class(moves, rewards, policy, order)
    reference = often_visited(moves, policy, members, order)
    return _of_reference(moves, rewards, policy, reference, order)


def _of_reference(
    moves: Moves,
    rewards: FloatArray,
    policy: IndexArray,
    reference: int,
    order: OffsetArray,
) -> _Evaluation:
    chain = PolicyChain(moves, policy, reference, order)
    n_states = moves.n_states
    waiting = chain.solve(np.ones(n_states))
    earned = chain.solve(rewards[np.arange(n_states) * moves.n_actions + policy])
    successors, weights = _row(moves, policy, reference)
    own = rewards[reference * moves.n_actions + policy[reference]]
    gain = (own + weights @ earned[successors]) / (1.0 + weights @ waiting[successors])
    return _Evaluation(
        chain, policy, reference, waiting, earned - gain * waiting, float(gain)
    )


def _row(moves: Moves, policy: IndexArray, state: int) -> tuple[IndexArray, FloatArray]:
    row = state * moves.n_actions + policy[state]
    begin, end = moves.indptr[row], moves.indptr[row + 1]
    return moves.indices[begin:end], moves.values[begin:end]


def _one_class(
    moves: Moves, rewards: FloatArray, policy: IndexArray, order: OffsetArray
) -> tuple[IndexArray, OffsetArray]:
    """Return the policy with all other states sent to its best recurrent class."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    n_states = moves.n_states
    sources, after, weights = moves.policy_edges(policy)
    graph = sparse.csr_array((weights, (sources, after)), shape=(n_states, n_states))
    count, label = connected_components(graph, connection="strong")
    leaving = label[sources] != label[after]
    closed = np.setdiff1d(np.arange(count), label[sources[leaving]])
    classes = [np.flatnonzero(label == c) for c in closed]
    if len(classes) == 1:
        return policy, classes[0]
    gains = []
    for members in classes:
        inside = order[np.isin(order, members)]
        first = often_visited(moves, policy, members, order)
        gains.append(_of_reference(moves, rewards, policy, first, inside).gain)
    best = classes[int(np.argmax([_or_least(gain) for gain in gains]))]
    route, distance = paths_to(moves, best)
    if not np.isfinite(distance).all():
        raise NotCommunicating(
            f"state {int(np.argmax(~np.isfinite(distance)))} cannot reach the states "
            f"{best[:4].tolist()} where the average reward is greatest, so the gain "
            "may depend on the state",
            hint="gain and bias need a communicating model",
        )
    reached = np.zeros(n_states, np.bool_)
    reached[best] = True
    while True:
        wider = reached | (np.asarray(graph @ reached.astype(np.float64)) > 0.0)
        if (wider == reached).all():
            break
        reached = wider
    return np.where(reached, policy, route).astype(np.int32), best


def _greedy_start(
    every: SimulatorClass, member: int, rewards: FloatArray, guess: FloatArray
) -> IndexArray:
    kernel = every.transitions
    best, scratch = np.empty(every.n_states), np.empty(3)
    totals = np.empty(every.n_states * every.n_actions)
    policy = np.empty(every.n_states, np.int32)
    improvement_sweep(
        kernel.indptr,
        kernel.indices.view(np.uint32),
        kernel.values[member],
        rewards,
        kernel.n_actions,
        guess,
        totals,
        best,
        scratch,
    )
    greedy_actions(totals, best, kernel.n_actions, 0.0, policy)
    return policy


def _richest_start(moves: Moves, rewards: FloatArray) -> IndexArray:
    """Go to the state with the greatest reward and collect it again and again."""
    target, action = divmod(int(np.argmax(rewards)), moves.n_actions)
    policy, _ = paths_to(moves, np.array([target]))
    policy[target] = action
    return policy
