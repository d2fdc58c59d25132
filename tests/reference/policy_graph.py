"""Slow twins of policy evaluation: the interface of policies, played out in full.

`values_by_playing` knows nothing of losses, graphs or kernels: it asks a policy what it
does after every history and adds up rewards in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from math import nan
from typing import Any

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import OutsideClass
from simgap.mdp import LatentMDP
from simgap.oracle.loss_form import LossForm
from simgap.policies import NOWHERE, BeliefPolicy, GraphPolicy, Policy, Step
from tests.reference.rational import RationalMDP, stored

Known = dict[tuple[int, int, Hashable], Fraction | None]


def values_by_playing(
    latent: LatentMDP, policy: Policy[Any], horizon: int
) -> list[Fraction | None]:
    """Return V^pi_1 at the start of every model; None if the policy raises."""
    simulators = latent.simulators
    found: list[Fraction | None] = []
    for member, model in enumerate(simulators):
        exact = stored(model)
        law = [Fraction(float(p)) for p in simulators.start_law(member)]
        known: Known = {}
        value: Fraction | None = Fraction(0)
        for state, chance in enumerate(law):
            if chance == 0 or value is None:
                continue
            try:
                memory = policy.start(state)
            except OutsideClass:
                value = None
                continue
            rest = _value(exact, policy, horizon, 0, state, memory, known)
            value = None if rest is None else value + chance * rest
        found.append(value if value is None else value / sum(law))
    return found


def _value(
    model: RationalMDP,
    policy: Policy[Any],
    horizon: int,
    h: int,
    state: int,
    memory: Hashable,
    known: Known,
) -> Fraction | None:
    if h == horizon:
        return Fraction(0)
    if (h, state, memory) in known:
        return known[h, state, memory]
    total: Fraction | None = Fraction(0)
    chances = [Fraction(float(p)) for p in policy.act(memory, h, state)]
    for action, chance in enumerate(chances):
        if chance == 0 or total is None:
            continue
        value: Fraction | None = model.rewards[state][action]
        for after, likelihood in enumerate(model.transitions[state][action]):
            if likelihood == 0 or value is None:
                continue
            try:
                later = policy.observe(memory, Step(h, state, action, after))
            except OutsideClass:
                value = None
                continue
            rest = _value(model, policy, horizon, h + 1, after, later, known)
            value = None if rest is None else value + likelihood * rest
        total = None if value is None else total + chance * value
    known[h, state, memory] = total
    return total


def gaps_of_nodes(form: LossForm, policy: GraphPolicy) -> FloatArray:
    """Return the gaps of nodes at the first step, one rule at a time, (N, M)."""
    assert form.horizon is not None
    pattern = form.pattern
    shape = (policy.n_nodes, form.n_models)
    after: FloatArray = np.zeros(shape)
    for h in range(form.horizon - 1, -1, -1):
        now = np.full(shape, nan)
        for node, state in enumerate(policy.node_state):
            for rule in range(policy.rule_offsets[node], policy.rule_offsets[node + 1]):
                if not policy.rule_since[rule] <= h <= policy.rule_until[rule]:
                    continue
                action = policy.rule_action[rule]
                now[node] = form.losses[h, state, action]
                if h == form.horizon - 1:
                    continue
                begin = pattern.indptr[state * pattern.n_actions + action]
                first = policy.next_offsets[rule]
                for k in range(policy.next_offsets[rule + 1] - first):
                    to = policy.next_node[first + k]
                    for m, p in enumerate(form.likelihood[begin + k]):
                        if p > 0.0:
                            rest = nan if to == NOWHERE else after[to, m]
                            now[node, m] += p * rest
        after = now
    return after


def belief_gaps(form: LossForm, policy: BeliefPolicy, *, steps: int) -> FloatArray:
    """Return sum_h discount^h loss_m over the first `steps` steps, exactly, (M,).

    After an observation that the policy deems impossible it keeps its posterior.
    """
    simulators = form.latent.simulators
    kernel = simulators.transitions
    gaps: FloatArray = np.zeros(form.n_models)

    def loss(m: int, h: int, state: int, memory: tuple[float, ...]) -> float:
        if h == steps:
            return 0.0
        if (m, h, state, memory) in known:
            return known[m, h, state, memory]
        action = int(np.argmax(policy.act(memory, h, state)))
        total = float(
            form.losses[h if form.horizon is not None else 0, state, action, m]
        )
        for after, p in zip(*kernel.row(m, state, action), strict=True):
            if p > 0.0:
                try:
                    later = policy.observe(memory, Step(h, state, action, int(after)))
                except OutsideClass:
                    later = memory
                total += form.discount * p * loss(m, h + 1, int(after), later)
        known[m, h, state, memory] = total
        return total

    known: dict[tuple[int, int, int, tuple[float, ...]], float] = {}
    for m in range(form.n_models):
        for state, p in enumerate(simulators.start_law(m)):
            if p > 0.0:
                try:
                    memory = policy.start(state)
                except OutsideClass:
                    memory = tuple(policy.prior.tolist())
                gaps[m] += p * loss(m, 0, state, memory)
    return gaps
