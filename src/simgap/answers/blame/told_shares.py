"""Shares of what information is worth, from returns with sets of parameters told.

Every number here is a sum of returns with sets told, times factors, episode by episode
and training by training: noise that all sets have in common cancels, and the shares add
up to v(all) - v(none) as the factors do. Where orders were sampled, their spread is one
more source of error, added as squares are.

Which sets of parameters a policy is told, and what their returns weigh in shares.

A game of n players has the number v(S) for the set S of parameters that are told. Its
Shapley shares are weighted sums of v: over all sets if they are few, otherwise over the
beginnings of random orders, each with its reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import final

import numpy as np

from simgap.answers.blame.sampled_shares import random_orders
from simgap.answers.blame.shapley import sets_without
from simgap.answers.transfer.setup import Recipe
from simgap.arrays import BoolArray, FloatArray, read_only
from simgap.continuous import (
    BroughtPolicy,
    Combination,
    Cube,
    DrawnPoints,
    Level,
    MeasuredValue,
    PartlyTold,
    Work,
    averaged,
    returns_of_trainings,
    weighted,
)
from simgap.intervals import Estimate
from simgap.records.blame_run import ToldParameter, ToldSet

Names = tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class ToldShares:
    """What all parameters are worth, and what each of them has of it."""

    total: Combination
    parameters: tuple[ToldParameter, ...]  # the greatest share first
    leader: str | None  # whose share is above all others, as far as intervals tell
    sets: tuple[ToldSet, ...]


def told_shares(
    cube: Cube,
    told: ToldSets,
    players: Names,
    points: DrawnPoints,
    *,
    confidence: float = 0.95,
) -> ToldShares:
    """Return the shares of a cube whose policies are one, with the sets told."""
    returns = returns_of_trainings(cube, points)
    game = _Game(returns, cube.inside, told, confidence)
    every = 2**told.players - 1
    total = game.sum_of(told.difference(every, 0))
    parameters = tuple(
        _parameter(game, player, name, total.value)
        for player, name in enumerate(players)
    )
    sets = tuple(
        ToldSet(told=names, returned=game.sum_of(one).value)
        for names, one in zip(told.names(players), np.eye(len(told.sets)), strict=True)
    )
    ranked = sorted(parameters, key=lambda each: -each.share.estimate)
    return ToldShares(total, tuple(ranked), _leader(game, players), sets)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Game:
    returns: tuple[MeasuredValue, ...]  # with each set told
    inside: BoolArray
    told: ToldSets
    confidence: float

    def sum_of(self, weights: FloatArray) -> Combination:
        value = weighted(self.returns, weights)
        return averaged(value, self.inside, Level(self.confidence))

    def share_of(self, draws: FloatArray) -> Combination:
        """Return the mean of sums (draws, sets), with the error of sampling them."""
        found = self.sum_of(draws.mean(axis=0))
        if len(draws) == 1:
            return found
        from scipy.special import stdtrit

        means = [float(np.nanmean(e.means[self.inside])) for e in self.returns]
        error = float(np.std(draws @ means, ddof=1)) / sqrt(len(draws))
        quantile = float(stdtrit(len(draws) - 1, 0.5 + self.confidence / 2.0))
        what = f"{len(draws)} random orders and their reverses"
        return found._replace(
            value=_widened(found.value, quantile * error, what),
            evaluation=_widened(found.evaluation, quantile * error, what),
        )


def _parameter(game: _Game, player: int, name: str, total: Estimate) -> ToldParameter:
    told, every = game.told, 2**game.told.players - 1
    draws: FloatArray = told.shares[:, player]
    share = game.share_of(draws)
    part = None
    if total.lower > 0.0:  # a ratio of two means: what moves it when either moves
        ratio = share.value.estimate / total.estimate
        whole = told.difference(every, 0)
        off = game.share_of((draws - ratio * whole) / total.estimate).value
        part = replace(off.changed(1.0, ratio), method=f"ratio, {off.method}")
    alone = 1 << player
    return ToldParameter(
        name=name,
        share=share.value,
        evaluation=share.evaluation,
        seed_spread=share.spread,
        part=part,
        first=game.sum_of(told.difference(alone, 0)).value,
        last=game.sum_of(told.difference(every, every ^ alone)).value,
    )


def _leader(game: _Game, players: Names) -> str | None:
    """Return the parameter whose share is above every other one, taken two by two."""
    shares = game.told.shares
    if len(players) < 2:
        return players[0]
    sure = 1.0 - (1.0 - game.confidence) / (len(players) - 1)
    strict = replace(game, confidence=sure)
    mean = shares.mean(axis=0)
    best = int(np.argmax([game.sum_of(w).evaluation.estimate for w in mean]))
    ahead = all(
        strict.share_of(shares[:, best] - shares[:, other]).value.lower > 0.0
        for other in range(len(players))
        if other != best
    )
    return players[best] if ahead else None


def _widened(found: Estimate, reach: float, what: str) -> Estimate:
    below = sqrt((found.estimate - found.lower) ** 2 + reach**2)
    above = sqrt((found.upper - found.estimate) ** 2 + reach**2)
    return replace(
        found,
        lower=found.estimate - below,
        upper=found.estimate + above,
        method=f"{found.method}, {what}",
        guaranteed=None,
    )


def partly_told(
    policies: Sequence[BroughtPolicy], told: Sequence[Names]
) -> tuple[PartlyTold, ...]:
    """Return every policy with every set of parameters told, set by set."""
    return tuple(
        PartlyTold(each, frozenset(names)) for names in told for each in policies
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class PartlyToldRecipe:
    """The same in another process: the first `masked` policies, with every set told."""

    inner: Recipe
    masked: int
    told: tuple[Names, ...]

    def __call__(self) -> Work:
        work = self.inner()
        mine, others = work.policies[: self.masked], work.policies[self.masked :]
        return replace(work, policies=(*partly_told(mine, self.told), *others))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ToldSets:
    """Which sets are told, as bits, and the weights of their numbers in the shares."""

    players: int
    sets: tuple[int, ...]
    shares: FloatArray  # (draws, players, sets); one draw: all orders at once

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", read_only(self.shares))

    def difference(self, one: int, other: int) -> FloatArray:
        """Return the weights of what one set gets more than another."""
        weights: FloatArray = np.zeros(len(self.sets))
        weights[self.sets.index(one)] += 1.0
        weights[self.sets.index(other)] -= 1.0
        return weights

    def names(self, players: Names) -> tuple[Names, ...]:
        """Return the sets by name."""
        return tuple(
            tuple(name for at, name in enumerate(players) if each >> at & 1)
            for each in self.sets
        )


def all_sets(players: int) -> ToldSets:
    """Return all sets, for shares that no order was left out of."""
    shares = np.zeros((1, players, 2**players))
    for player in range(players):
        before, weights = sets_without(player, players)
        shares[0, player, before | 1 << player] = weights
        shares[0, player, before] = -weights
    return ToldSets(players, tuple(range(2**players)), shares)


def sets_of_orders(players: int, pairs: int, seed: int) -> ToldSets:
    """Return the beginnings of random orders, a draw for each order and its reverse.

    Sets of one parameter, and of all but one, are among them.
    """
    orders = random_orders(players, pairs, seed)
    every = 2**players - 1
    alone = [1 << player for player in range(players)]
    needed = {0, every, *alone, *(every ^ each for each in alone)}
    sets = tuple(sorted(needed.union(*orders.prefixes)))
    at = {each: place for place, each in enumerate(sets)}
    shares = np.zeros((pairs, players, len(sets)))
    for draw, (order, prefixes) in enumerate(
        zip(orders.orders, orders.prefixes, strict=True)
    ):
        places = [at[each] for each in prefixes]
        shares[draw // 2, order, places[1:]] += 0.5
        shares[draw // 2, order, places[:-1]] -= 0.5
    return ToldSets(players, sets, shares)
