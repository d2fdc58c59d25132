"""Travel times to one target by policy iteration, however slow the chain is.

The first policy follows shortest paths with edge cost 1 / p, which is never absurdly
slow. Policies are evaluated by `PolicyChain` and sharpened to about 30 digits, so that
an improvement can be distinguished from rounding even if times are as large as 1e18.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.solving import add_to_wide
from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.planning.policy_chain import Moves, PolicyChain, first_best, paths_to

MOST_ROUNDS = 1000
MOST_CORRECTIONS = 6
IMPROVEMENT = 1e-12  # of one step: less is a tie
EPS = 2.0**-52


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
