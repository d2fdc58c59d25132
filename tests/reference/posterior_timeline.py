"""Posteriors history by history in exact arithmetic, and one episode at a time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from simgap.policies.interface import Policy, Step
from tests.reference.rational import Kernel

Table = list[list[Fraction]]  # [real model][believed model]


def mean_posteriors(
    kernels: Sequence[Kernel],
    prior: Sequence[Fraction],
    starts: Sequence[Sequence[Fraction]],
    policy: Policy[Any],
    horizon: int,
) -> list[Table]:
    """Return E_m[posterior of i] after 0, 1, ..., H steps; no histories are merged."""
    members, states = range(len(kernels)), range(len(kernels[0]))
    now: list[tuple[int, Any, list[Fraction]]] = []
    for s in states:
        weights = [starts[m][s] for m in members]
        if any(w * nu for w, nu in zip(weights, prior, strict=True)):
            now.append((s, policy.start(s), weights))
    tables = [_table(now, prior)]
    for h in range(horizon):
        later = []
        for state, memory, weights in now:
            action = int(np.argmax(policy.act(memory, h, state)))
            for t in states:
                moved = [weights[m] * kernels[m][state][action][t] for m in members]
                if any(w * nu for w, nu in zip(moved, prior, strict=True)):
                    after = policy.observe(memory, Step(h, state, action, t))
                    later.append((t, after, moved))
        now = later
        tables.append(_table(now, prior))
    return tables


def _table(
    now: list[tuple[int, Any, list[Fraction]]], prior: Sequence[Fraction]
) -> Table:
    members = range(len(prior))
    table = [[Fraction(0)] * len(prior) for _ in members]
    for _, _, weights in now:
        evidence = sum(w * nu for w, nu in zip(weights, prior, strict=True))
        for m in members:
            for i in members:
                table[m][i] += weights[m] * weights[i] * prior[i] / evidence
    return table


def followed(
    kernels: Sequence[Kernel],
    prior: Sequence[float],
    start: int,
    policy: Policy[Any],
    real: int,
    luck: Sequence[float],
) -> list[float]:
    """Return the posterior of the real model along one episode, given its luck."""
    state, memory = start, policy.start(start)
    belief, out = list(prior), []
    for h, draw in enumerate(luck):
        out.append(belief[real])
        action = int(np.argmax(policy.act(memory, h, state)))
        row = [float(p) for p in kernels[real][state][action]]
        reached = np.flatnonzero(np.cumsum(row) > draw)
        after = int(reached[0]) if reached.size else int(np.flatnonzero(row)[-1])
        memory = policy.observe(memory, Step(h, state, action, after))
        seen = [
            b * float(kernel[state][action][after])
            for b, kernel in zip(belief, kernels, strict=True)
        ]
        belief, state = [s / sum(seen) for s in seen], after
    return [*out, belief[real]]
