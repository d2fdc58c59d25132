"""What every policy without memory loses: the bound by coupling, against a plain one.

    python -m benchmarks.memory_needed [--quick]

The plain recursion couples greedily, takes every pair of states of every pair of models
and thirteen weights, and is compiled as well. Beside both bounds: the best policy
found, and the oracle's upper end (a bracket of 20 %): where the bound is above that,
memory is needed. Goals: the first bound, and its CPU seconds.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np
from numba import njit
from scipy.optimize import linprog

from benchmarks.results import Row, Table, measured, run, spread, timed
from simgap.arrays import FloatArray
from simgap.instances.catalogue import build_instance
from simgap.mdp import LatentMDP
from simgap.oracle.baselines.coupled import least_by_coupling
from simgap.oracle.baselines.memoryless import WORK_PER_SECOND, best_plan
from simgap.oracle.baselines.windowed import window_nodes
from simgap.oracle.entry import planned_policy
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.settings import AutoOracle

LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
WEIGHTS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
CASES = (
    (LAKES, 200),
    (LAKES, 50),
    ("riverswim?success=0.1:0.6:5&left_reward=0.4&uniform=true", 200),
    ("garnet_mixture?members=6", 100),
    ("windy_grid?size=5", 50),
)
GOAL = (0.267, 1.0)  # of the first case: least bound, most CPU seconds


def bounds(options: Namespace) -> Iterator[Row]:
    """Bound what policies without memory lose, quickly and plainly."""
    for at, (model, horizon) in enumerate(CASES[1:2] if options.quick else CASES):
        form = loss_form(LatentMDP.uniform(build_instance(model)), horizon=horizon)
        coupled = partial(timed, least_by_coupling, form, 0, WORK_PER_SECOND)
        plainly = partial(timed, plain_bound, form)
        (bound, plain), seconds = measured(coupled, plainly, repeats=3)
        found = best_plan(form, window_nodes(form.pattern, 0), [], prove=False).average
        upper = planned_policy(form, AutoOracle(gap_tolerance=0.2)).upper
        name = f"{model.partition('?')[0]} M={form.n_models} H={horizon}"
        ours, theirs = map(spread, seconds)
        judged = at == 0 and not options.quick
        met = bound >= GOAL[0] and ours.median <= GOAL[1] if judged else None
        yield name, ours, theirs, bound, plain, found, upper, met


def plain_bound(form: LossForm) -> float:
    """Return the bound of the plain recursion; one first state for all models."""
    (start,) = form.root_states.tolist()
    kernels = [
        form.latent.simulators.transitions.array(m) for m in range(form.n_models)
    ]
    columns, values = [], []
    for i, j in combinations(range(form.n_models), 2):
        for weight in WEIGHTS:
            both = [np.ascontiguousarray(form.losses[..., m]) for m in (i, j)]
            found = _pair(kernels[i], kernels[j], *both, weight)
            column = np.zeros(form.n_models)
            column[i], column[j] = weight, 1.0 - weight
            columns.append(column)
            values.append(found[start, start])
    solved = linprog(
        -np.array(values), A_ub=np.array(columns).T, b_ub=form.latent.prior
    )
    return -float(solved.fun or 0.0)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pair(
    one: FloatArray, two: FloatArray, loss: FloatArray, other: FloatArray, weight: float
) -> FloatArray:
    steps, n_states, n_actions = loss.shape
    below, now = np.zeros((n_states, n_states)), np.zeros((n_states, n_states))
    for h in range(steps - 1, -1, -1):
        for s in range(n_states):
            for t in range(n_states):
                best = np.inf
                for a in range(n_actions):
                    for b in range(n_actions):
                        if s == t and a != b:
                            continue
                        paid = weight * loss[h, s, a] + (1.0 - weight) * other[h, t, b]
                        if paid < best:
                            best = min(
                                best, paid + _greedy(one[s, a], two[t, b], below)
                            )
                now[s, t] = best
        below, now = now, below
    return below


@njit(cache=True)  # type: ignore[untyped-decorator]
def _greedy(p: FloatArray, q: FloatArray, value: FloatArray) -> float:
    rows, lines = np.flatnonzero(p), np.flatnonzero(q)
    left, right, total = p[rows], q[lines], 0.0
    while True:
        best, row, line = -1.0, -1, -1
        for i in range(rows.size):
            for j in range(lines.size):
                here = value[rows[i], lines[j]]
                if left[i] > 1e-15 and right[j] > 1e-15 and here > best:
                    best, row, line = here, i, j
        if row < 0:
            return total
        part = min(left[row], right[line])
        total += part * best
        left[row] -= part
        right[line] -= part


TABLES = (
    Table(
        "memory_needed",
        "case | CPU s | plain, CPU s | bound | plain bound | best policy found | "
        "with memory, at most | met",
        bounds,
        dict.fromkeys(("bound", "plain bound", "best policy found"), 5)
        | {"with memory, at most": 5},
    ),
)

if __name__ == "__main__":
    sys.exit(run("benchmarks.memory_needed", str(__doc__), TABLES))
