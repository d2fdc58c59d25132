"""What a policy trained on a range does in every model, in exact arithmetic.

The policy is followed by replaying histories, step by step, and not as a graph over
the whole class: as long as the range allows what is seen it is the oracle of the range,
from then on the plan that is best on average over the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from simgap.errors import OutsideClass
from simgap.mdp import LatentMDP, Parameters, class_from_models
from simgap.policies.graph import GraphPolicy
from simgap.policies.interface import Step
from tests.reference.episodic import optimal_values
from tests.reference.latent import (
    History,
    Plan,
    RationalLatent,
    rational,
    values_by_histories,
)


def with_parameters(
    latent: LatentMDP, names: tuple[str, ...], rows: Sequence[Sequence[float]]
) -> LatentMDP:
    """Return a latent MDP whose models have parameters, one row each."""
    theta = Parameters(names, np.array(rows, np.float64))
    return LatentMDP(replace(latent.simulators, parameters=theta), latent.prior)


def restricted(latent: LatentMDP, kept: Sequence[int]) -> LatentMDP:
    """Return the class of some models, with their part of the prior."""
    inside = [latent.simulators[at] for at in kept]
    weight = latent.prior[list(kept)]
    return LatentMDP(class_from_models(inside), weight / weight.sum())


def gaps_of_range(
    latent: LatentMDP, kept: Sequence[int], policy: GraphPolicy, horizon: int
) -> list[Fraction]:
    """Return V* - V in every model of the oracle of a range, a sum over histories."""
    exact, inner = rational(latent), rational(restricted(latent, kept))
    spare = _average_plan(inner, horizon)

    def plan(s: int, past: History) -> int:
        if _possible(inner, past, s):
            try:
                return _played(policy, past, s)
            except OutsideClass:
                pass
        return spare[len(past)][s]

    values = values_by_histories(exact, plan, horizon)
    return [v - w for v, w in zip(exact.optimal(horizon), values, strict=True)]


def _possible(inner: RationalLatent, past: History, s: int) -> bool:
    """Return whether each step so far is possible in some model of the range."""
    first = past[0][0] if past else s
    return any(law[first] for law in inner.start) and all(
        any(model.transitions[u][a][t] for model in inner.models) for u, a, t in past
    )


def _played(policy: GraphPolicy, past: History, s: int) -> int:
    memory = policy.start(past[0][0] if past else s)
    for h, (u, a, t) in enumerate(past):
        memory = policy.observe(memory, Step(h=h, state=u, action=a, next_state=t))
    return int(np.argmax(policy.act(memory, len(past), s)))


def _average_plan(inner: RationalLatent, horizon: int) -> list[list[int]]:
    """Return the lowest action of least average loss at each step and state."""
    ahead = [optimal_values(m.transitions, m.rewards, horizon) for m in inner.models]
    weights = [p.limit_denominator(10**6) for p in inner.prior]  # of k / n, not floats

    def worth(h: int, s: int, a: int) -> Fraction:
        total = Fraction(0)
        for p, model, values in zip(weights, inner.models, ahead, strict=True):
            row = model.transitions[s][a]
            after = sum((c * v for c, v in zip(row, values[h + 1], strict=True) if c),
                        Fraction(0))  # fmt: skip
            total += p * (model.rewards[s][a] + after)
        return total

    actions = range(inner.n_actions)
    return [
        [
            max(actions, key=lambda a: (worth(h, s, a), -a))
            for s in range(inner.n_states)
        ]
        for h in range(horizon)
    ]


def least_average_gap(latent: LatentMDP, horizon: int) -> Fraction:
    """Return the least average gap over all deterministic policies of histories.

    Every policy is written down and followed: for classes of very few histories.
    """
    exact = rational(latent)
    best = sum(
        (p * v for p, v in zip(exact.prior, exact.optimal(horizon), strict=True)),
        Fraction(0),
    )
    most = Fraction(-1)
    histories = _histories(exact, horizon)
    assert prod(exact.n_actions for _ in histories) <= 5_000
    for number in range(exact.n_actions ** len(histories)):
        digits = dict(zip(histories, _digits(number, exact.n_actions), strict=False))
        values = values_by_histories(exact, _by_table(digits), horizon)
        mean = sum(
            (p * v for p, v in zip(exact.prior, values, strict=True)), Fraction(0)
        )
        most = max(most, mean)
    return best - most


def _by_table(actions: dict[tuple[int, History], int]) -> Plan:
    return lambda s, past: actions.get((s, past), 0)


def _histories(exact: RationalLatent, horizon: int) -> list[tuple[int, History]]:
    """Return every (state, past) at which somebody may have to act."""
    found: list[tuple[int, History]] = []
    now: list[tuple[int, History]] = [(s, ()) for s, _ in exact.roots()]
    for _ in range(horizon):
        found += now
        now = [
            (t, (*past, (s, a, t)))
            for s, past in now
            for a in range(exact.n_actions)
            for t in range(exact.n_states)
            if any(m.transitions[s][a][t] for m in exact.models)
        ]
    return found


def _digits(number: int, base: int) -> list[int]:
    out = []
    while number:
        number, digit = divmod(number, base)
        out.append(digit)
    return out
