"""What each part causes of the loss: from all sets of parts, or from random orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.answers.blame.hidden_losses import HiddenLosses, losses_of_sets
from simgap.answers.blame.sampled_shares import random_orders, sampled_shares
from simgap.answers.blame.shapley import (
    Game,
    leading_player,
    shapley_parts,
    shapley_shares,
)
from simgap.intervals import Certified, Estimate, Interval

NOISE = 10.0  # times the rounding: a smaller whole is nothing


@final
@dataclass(frozen=True, slots=True)
class HiddenShares:
    """What every relevant part has of the whole loss."""

    values: dict[int, Certified]  # v of the sets that were looked at
    shares: Sequence[Interval]  # (n,), they sum to the whole
    parts: Sequence[Interval] | None  # (n,), of 1; None if the whole is 0
    leader: int | None  # certainly the largest share

    def worth_of_knowing(self, player: int) -> Certified:
        """Return what knowing one part saves: v(N) - v(N - p)."""
        every = 2 ** len(self.shares) - 1
        saved = self.values[every] - self.values[every ^ 1 << player]
        return saved.not_negative()


def exact_shares(losses: HiddenLosses) -> HiddenShares:
    """Return the shares from the bracket of every set of parts."""
    players = len(losses.parts.relevant)
    if players == 0:
        return HiddenShares({0: Certified(0.0, 0.0)}, (), None, None)
    every = 2**players - 1
    values = losses_of_sets(losses, [every, *_but_one(players), *range(every)])
    game = Game(
        players,
        np.array([values[each].lower for each in range(every + 1)], np.float64),
        np.array([values[each].upper for each in range(every + 1)], np.float64),
    )
    shares = shapley_shares(game)
    if _nothing(values[every], losses):
        return HiddenShares(values, shares, None, None)
    return HiddenShares(values, shares, shapley_parts(game), leading_player(game))


def estimated_shares(
    losses: HiddenLosses, *, pairs: int, confidence: float
) -> HiddenShares:
    """Return shares from random orders; all intervals hold at once at `confidence`."""
    players = len(losses.parts.relevant)
    orders = random_orders(players, pairs, losses.effort.seed)
    every = 2**players - 1
    needed = [each for order in orders.prefixes for each in order]
    alone = [1 << player for player in range(players)]
    values = losses_of_sets(losses, [every, *_but_one(players), 0, *needed, *alone])
    found = sampled_shares(orders, values, confidence=confidence)
    if _nothing(values[every], losses):
        return HiddenShares(values, found, None, None)
    best = max(range(players), key=lambda player: found[player].lower)
    ahead = all(
        each.upper < found[best].lower for at, each in enumerate(found) if at != best
    )
    parts = tuple(_over(each, values[every]) for each in found)
    return HiddenShares(values, found, parts, best if ahead else None)


def _but_one(players: int) -> list[int]:
    """Return the sets without one player: what is hidden if one part is known."""
    return [(2**players - 1) ^ 1 << player for player in range(players)]


def _over(share: Estimate, whole: Certified) -> Estimate:
    """Return an estimated share as a part of the whole."""
    low = share.lower / whole.upper
    high = min(1.0, share.upper / whole.lower) if whole.lower > 0.0 else 1.0
    middle = share.estimate / (0.5 * (whole.lower + whole.upper))
    return replace(
        share, estimate=min(max(middle, low), high), lower=low, upper=max(low, high)
    )


def _nothing(whole: Certified, losses: HiddenLosses) -> bool:
    """Return whether the whole loss is 0 as far as floats can tell."""
    return whole.lower == 0.0 and whole.upper <= NOISE * losses.rounding
