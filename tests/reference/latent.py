"""Latent MDPs in exact arithmetic: plain recursions over beliefs and histories.

Numbers are those of the stored class, each row divided by its exact sum. Beliefs are
tuples of Fractions; nothing is in loss form here, so that the loss form is judged too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    class_from_models,
    mdp_from_arrays,
)
from tests.reference.episodic import optimal_values
from tests.reference.rational import RationalMDP, stored

Belief = tuple[Fraction, ...]
Node = tuple[int, int, Belief]  # steps taken, state, belief
Ends = tuple[Fraction, Fraction]  # the least and the largest
LARGEST = (4, 4, 3)  # models, states, actions of random cases
History = tuple[tuple[int, int, int], ...]  # (state, action, next state) so far
Plan = Callable[[int, History], int]  # current state and what came before: an action


@final
@dataclass(frozen=True)
class RationalLatent:
    """M models, a prior and a law of the first state in each model."""

    models: tuple[RationalMDP, ...]
    prior: Belief
    start: tuple[tuple[Fraction, ...], ...]  # (M, S)

    @property
    def n_states(self) -> int:
        return self.models[0].n_states

    @property
    def n_actions(self) -> int:
        return self.models[0].n_actions

    def first(self, s: int) -> Belief:
        """Return nu_m mu_m(s): the weights of an episode that begins in s."""
        return tuple(p * law[s] for p, law in zip(self.prior, self.start, strict=True))

    def roots(self) -> Iterator[tuple[int, Belief]]:
        """Yield the states in which episodes can begin, with their weights."""
        for s in range(self.n_states):
            if any(self.first(s)):
                yield s, self.first(s)

    def after(self, weight: Belief, s: int, a: int, t: int) -> Belief:
        """Return the weights after a step from s to t."""
        return tuple(
            w * model.transitions[s][a][t] if w else w
            for w, model in zip(weight, self.models, strict=True)
        )

    def optimal(self, horizon: int) -> list[Fraction]:
        """Return V*_1 at the start of every model."""
        found = []
        for model, law in zip(self.models, self.start, strict=True):
            first = optimal_values(model.transitions, model.rewards, horizon)[0]
            found.append(_dot(law, first))
        return found


def rational(latent: LatentMDP) -> RationalLatent:
    """Return a stored latent MDP in Fractions."""
    simulators = latent.simulators
    laws = [simulators.start_law(m) for m in range(len(simulators))]
    return RationalLatent(
        tuple(stored(model) for model in simulators),
        _law([float(p) for p in latent.prior]),
        tuple(_law([float(p) for p in law]) for law in laws),
    )


def exact_gap(latent: LatentMDP, horizon: int) -> Fraction:
    """Return the average gap of the oracle: sum_m nu_m V*_m - W*."""
    exact = rational(latent)
    return _dot(exact.prior, exact.optimal(horizon)) - oracle_value(exact, horizon)


def oracle_value(latent: RationalLatent, horizon: int) -> Fraction:
    """Return W*, by recursion over beliefs."""
    return bound(latent, horizon, backups=horizon)


def bound(latent: RationalLatent, horizon: int, *, backups: int) -> Fraction:
    """Return U_k: k exact backups at the root, then an agent told the model.

    It falls with k, and U_H = W* (theory row 37).
    """
    informed = [
        optimal_values(model.transitions, model.rewards, horizon)
        for model in latent.models
    ]
    known: dict[Node, Fraction] = {}

    def value(h: int, s: int, weight: Belief) -> Fraction:
        if h == min(backups, horizon):
            return _dot(weight, [values[h][s] for values in informed])
        node = (h, s, _normalised(weight))
        if node not in known:
            known[node] = max(
                _backup(latent, node, a, value) for a in range(latent.n_actions)
            )
        return sum(weight, Fraction(0)) * known[node]

    return sum((value(0, s, weight) for s, weight in latent.roots()), Fraction(0))


def gap_intervals(
    latent: RationalLatent, horizon: int
) -> list[tuple[Fraction, Fraction]]:
    """Return for every model the least and largest gap of all optimal policies.

    Optimal policies are those that play optimal actions at every history that some
    model with a positive prior allows; elsewhere they may do anything.
    """
    free = [_ends_of_all_policies(model, horizon) for model in latent.models]
    best = _optimal_actions(latent, horizon)
    known: dict[Node, list[Ends]] = {}

    def ends(h: int, s: int, weight: Belief) -> list[Ends]:
        if h == horizon or not any(weight):
            return [each[h][s] for each in free]
        node = (h, s, _normalised(weight))
        if node not in known:
            choices = [_ends_of(latent, node, a, ends) for a in best[node]]
            known[node] = [
                (min(choice[m][0] for choice in choices),
                 max(choice[m][1] for choice in choices))
                for m in range(len(latent.models))
            ]  # fmt: skip
        return known[node]

    intervals = []
    for m, (law, top) in enumerate(
        zip(latent.start, latent.optimal(horizon), strict=True)
    ):
        first = [(p, ends(0, s, latent.first(s))[m]) for s, p in enumerate(law) if p]
        low = sum((p * end[0] for p, end in first), Fraction(0))
        high = sum((p * end[1] for p, end in first), Fraction(0))
        intervals.append((top - high, top - low))
    return intervals


def values_by_histories(
    latent: RationalLatent, plan: Plan, horizon: int
) -> list[Fraction]:
    """Return V^pi_1 of a policy in every model: a sum over all histories."""
    values = []
    for model, law in zip(latent.models, latent.start, strict=True):
        total = Fraction(0)
        paths: list[tuple[int, History, Fraction]] = [
            (s, (), p) for s, p in enumerate(law) if p
        ]
        for _ in range(horizon):
            longer = []
            for s, past, chance in paths:
                a = plan(s, past)
                total += chance * model.rewards[s][a]
                for t, p in enumerate(model.transitions[s][a]):
                    if p:
                        longer.append((t, (*past, (s, a, t)), chance * p))
            paths = longer
        values.append(total)
    return values


def random_latent(
    rng: np.random.Generator, *, denominator: int, most_histories: int = 1_500
) -> tuple[LatentMDP, int]:
    """Return a latent MDP of at most 4 models, 4 states and 3 actions, and H <= 5.

    Models share most rows, so that evidence is scarce. Some cases have duplicates,
    zero prior, rewards or first states that depend on the model, or mirror images.
    """
    least = 2 if rng.random() < 0.9 else 1
    M, S, A = (int(rng.integers(least, most + 1)) for most in LARGEST)
    branching = min(S, int(rng.integers(least, 4)))
    horizon = int(rng.integers(1, 6))
    while (A * branching) ** horizon > most_histories:
        horizon -= 1
    shared = rng.random() < 0.6  # the same supports: nobody is ever ruled out
    supports = _supports(rng, S, A, branching)
    base = _rows(rng, supports, denominator)
    kernels = []
    for _ in range(M):
        own = supports if shared else _supports(rng, S, A, branching)
        changed = rng.random((S, A, 1)) < 0.8
        kernels.append(np.where(changed, _rows(rng, own, denominator), base))
    rewards = rng.integers(0, 5, (M, S, A)) / 4.0
    if rng.random() < 0.6:  # only where one gets to is paid
        rewards[:] = rewards[:, :, :1]
    if rng.random() < 0.6:
        rewards[:] = rewards[0]
    if rng.random() < 0.2:  # an action twice
        for kernel in kernels:
            kernel[:, -1] = kernel[:, 0]
        rewards[:, :, -1] = rewards[:, :, 0]
    if rng.random() < 0.2:  # a model twice
        kernels[-1], rewards[-1] = kernels[0], rewards[0]
    starts = rng.multinomial(4, [1.0 / S] * S, size=M) / 4.0
    if rng.random() < 0.6:
        starts[:] = np.eye(S)[0]
    parts = 1 + rng.multinomial(8 - M, [1.0 / M] * M)
    if M > 1 and rng.random() < 0.2:  # a model that training never saw
        parts[0], parts[1] = 0, parts[0] + parts[1]
    if A > 1 and M > 1 and rng.random() < 0.3:  # mirror images: ties that matter
        swapped = [1, 0, *range(2, A)]
        kernels[1], rewards[1] = kernels[0][:, swapped], rewards[0][:, swapped]
        starts[1] = starts[0]
        left = int(parts[0] + parts[1])
        parts[:2] = left // 2
        parts[-1] += left % 2
    prior = parts / parts.sum()
    models = [
        mdp_from_arrays(
            kernel, reward, order=IndexOrder.STATE_ACTION, details=Details(start=start)
        )
        for kernel, reward, start in zip(kernels, rewards, starts, strict=True)
    ]
    return LatentMDP(class_from_models(models), prior), max(1, horizon)


def _optimal_actions(latent: RationalLatent, horizon: int) -> dict[Node, list[int]]:
    """Return the optimal actions at every node that can be reached."""
    best: dict[Node, list[int]] = {}
    known: dict[Node, Fraction] = {}

    def value(h: int, s: int, weight: Belief) -> Fraction:
        if h == horizon:
            return Fraction(0)
        node = (h, s, _normalised(weight))
        if node not in known:
            each = [_backup(latent, node, a, value) for a in range(latent.n_actions)]
            known[node] = max(each)
            best[node] = [a for a, v in enumerate(each) if v == known[node]]
        return sum(weight, Fraction(0)) * known[node]

    for s, weight in latent.roots():
        value(0, s, weight)
    return best


def _backup(
    latent: RationalLatent,
    node: Node,
    a: int,
    value: Callable[[int, int, Belief], Fraction],
) -> Fraction:
    h, s, belief = node
    total = _dot(belief, [model.rewards[s][a] for model in latent.models])
    for t in range(latent.n_states):
        weight = latent.after(belief, s, a, t)
        if any(weight):
            total += value(h + 1, t, weight)
    return total


def _ends_of(
    latent: RationalLatent,
    node: Node,
    a: int,
    ends: Callable[[int, int, Belief], list[Ends]],
) -> list[Ends]:
    """Return the least and largest value of each model after one action."""
    h, s, belief = node
    found = []
    after = [
        ends(h + 1, t, latent.after(belief, s, a, t)) for t in range(latent.n_states)
    ]
    for m, model in enumerate(latent.models):
        row, reward = model.transitions[s][a], model.rewards[s][a]
        low = reward + _dot(row, [each[m][0] for each in after])
        high = reward + _dot(row, [each[m][1] for each in after])
        found.append((low, high))
    return found


def _ends_of_all_policies(model: RationalMDP, horizon: int) -> list[list[Ends]]:
    """Return the least and largest value over all policies, (H + 1, S)."""
    most = optimal_values(model.transitions, model.rewards, horizon)
    losses = [[-r for r in row] for row in model.rewards]
    least = optimal_values(model.transitions, losses, horizon)
    return [
        [(-low, high) for low, high in zip(lows, highs, strict=True)]
        for lows, highs in zip(least, most, strict=True)
    ]


def _normalised(weight: Belief) -> Belief:
    mass = sum(weight, Fraction(0))
    return tuple(w / mass for w in weight)


def _law(numbers: Sequence[float]) -> Belief:
    exact = [Fraction(x) for x in numbers]
    return tuple(x / sum(exact) for x in exact)


def _dot(weights: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    pairs = zip(weights, values, strict=True)
    return sum((w * v for w, v in pairs if w), Fraction(0))


def _supports(rng: np.random.Generator, S: int, A: int, branching: int) -> AnyArray:
    """Return `branching` successors for every pair, (S, A, branching)."""
    return np.argsort(rng.random((S, A, S)), axis=2)[:, :, :branching]


def _rows(rng: np.random.Generator, supports: AnyArray, denominator: int) -> FloatArray:
    """Return laws k / denominator on the supports, (S, A, S), zeros allowed."""
    S, A, branching = supports.shape
    shares = rng.multinomial(denominator, [1.0 / branching] * branching, size=(S, A))
    rows = np.zeros((S, A, S))
    np.put_along_axis(rows, supports, shares / denominator, axis=2)
    return rows
