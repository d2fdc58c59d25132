"""Which sets of parameters a policy is told, and what their returns weigh in shares.

A game of n players has the number v(S) for the set S of parameters that are told. Its
Shapley shares are weighted sums of v: over all sets if they are few, otherwise over the
beginnings of random orders, each with its reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.answers.blame.sampled_shares import random_orders
from simgap.answers.blame.shapley import sets_without
from simgap.answers.transfer.setup import Recipe
from simgap.arrays import FloatArray, read_only
from simgap.continuous import BroughtPolicy, PartlyTold, Work

Names = tuple[str, ...]


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
