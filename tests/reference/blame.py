"""The hidden and the ignored game by brute force, in Fractions.

Parameters are tuples of numbers; a class is a mapping from them to models and chances.
Classes that are left when some parameters are told are planned one by one, by plain
recursion over beliefs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from simgap.arrays import IndexArray
from simgap.mdp import LatentMDP
from tests.reference.episodic import optimal_values, policy_values
from tests.reference.latent import RationalLatent, oracle_value, rational

Theta = tuple[float, ...]


def hidden_game(latent: LatentMDP, horizon: int) -> list[Fraction]:
    """Return v(S) of every set S of parameters: told the others, then planned."""
    exact, thetas = rational(latent), _thetas(latent)
    game = []
    for hidden in range(2 ** len(thetas[0])):
        told: dict[Theta, list[int]] = {}
        for m, theta in enumerate(thetas):
            if exact.prior[m]:
                told.setdefault(_without(theta, hidden), []).append(m)
        game.append(
            sum((_weighted_gap(exact, each, horizon) for each in told.values()),
                Fraction(0))
        )  # fmt: skip
    return game


def ignored_game(
    latent: LatentMDP, nominal: int, actions: IndexArray
) -> list[Fraction]:
    """Return u(S): the plan's gap with the parameters of S real, the others nominal."""
    exact, thetas = rational(latent), _thetas(latent)
    gaps = plan_gaps(latent, actions)
    game = []
    for real in range(2 ** len(thetas[0])):
        total = Fraction(0)
        for m, theta in enumerate(thetas):
            mixed = tuple(
                x if real >> k & 1 else y
                for k, (x, y) in enumerate(zip(theta, thetas[nominal], strict=True))
            )
            if exact.prior[m]:
                total += exact.prior[m] * gaps[thetas.index(mixed)]
        game.append(total)
    return game


def plan_gaps(latent: LatentMDP, actions: IndexArray) -> list[Fraction]:
    """Return V* - V^pi at the start of every model, of a plan (H, S) of actions."""
    exact = rational(latent)
    policy = [
        [[Fraction(int(a == b)) for b in range(exact.n_actions)] for a in row]
        for row in actions.tolist()
    ]
    found = []
    for model, law in zip(exact.models, exact.start, strict=True):
        best = optimal_values(model.transitions, model.rewards, len(policy))[0]
        own = policy_values(model.transitions, model.rewards, policy)[0]
        found.append(sum((p * (b - o) for p, b, o in zip(law, best, own, strict=True)),
                         Fraction(0)))  # fmt: skip
    return found


def _weighted_gap(
    exact: RationalLatent, members: Sequence[int], horizon: int
) -> Fraction:
    """Return the chance of some models times the oracle's average gap of them."""
    part = RationalLatent(
        tuple(exact.models[m] for m in members),
        tuple(exact.prior[m] for m in members),
        tuple(exact.start[m] for m in members),
    )
    informed = sum(
        (p * v for p, v in zip(part.prior, part.optimal(horizon), strict=True)),
        Fraction(0),
    )
    return informed - oracle_value(part, horizon)


def _thetas(latent: LatentMDP) -> list[Theta]:
    return [tuple(row) for row in latent.simulators.theta.values.tolist()]


def _without(theta: Theta, hidden: int) -> Theta:
    return tuple(x for k, x in enumerate(theta) if not hidden >> k & 1)
