"""Shares of the hidden game: from all sets of parts, or from random orders of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from simgap.answers.blame.hidden_game import HiddenGame, game_of, plan_sets
from simgap.answers.blame.sampled_shares import random_orders, sampled_shares
from simgap.answers.blame.shapley import leading_player, shapley_parts, shapley_shares
from simgap.intervals import Certified, Estimate

Share = Certified | Estimate
NOISE = 10.0  # times the rounding: a smaller whole is nothing


@final
@dataclass(frozen=True, slots=True)
class HiddenShares:
    """What every active part has of the whole gap."""

    values: dict[int, Certified]  # v of the sets that were looked at
    shares: tuple[Share, ...]  # (n,), they sum to the whole
    parts: tuple[Share, ...] | None  # (n,), of 1; None if the whole is 0
    leader: int | None  # certainly the largest share

    @property
    def whole(self) -> Certified:
        """Return v(N), the average gap of the oracle."""
        return self.values[2 ** len(self.shares) - 1]


def exact_shares(game: HiddenGame) -> HiddenShares:
    """Return the shares from the bracket of every set of parts."""
    players = len(game.parts.active)
    if players == 0:
        return HiddenShares({0: Certified(0.0, 0.0)}, (), None, None)
    every = 2**players - 1
    values = plan_sets(game, [every, *_but_one(players), *range(every)])
    table = game_of(players, values)
    shares = shapley_shares(table)
    if _nothing(values[every], game):
        return HiddenShares(values, shares, None, None)
    return HiddenShares(values, shares, shapley_parts(table), leading_player(table))


def estimated_shares(
    game: HiddenGame, *, pairs: int, confidence: float
) -> HiddenShares:
    """Return the shares from random orders, all intervals together at confidence."""
    players = len(game.parts.active)
    orders = random_orders(players, pairs, game.effort.seed)
    every = 2**players - 1
    needed = [each for order in orders.prefixes for each in order]
    alone = [1 << player for player in range(players)]
    values = plan_sets(game, [every, *_but_one(players), 0, *needed, *alone])
    found = sampled_shares(orders, values, confidence=confidence)
    if _nothing(values[every], game):
        return HiddenShares(values, found, None, None)
    best = max(range(players), key=lambda player: found[player].lower)
    ahead = all(
        each.upper < found[best].lower for at, each in enumerate(found) if at != best
    )
    parts = tuple(_over(each, values[every]) for each in found)
    return HiddenShares(values, found, parts, best if ahead else None)


def _but_one(players: int) -> list[int]:
    """Return the sets without one player: what telling one part leaves."""
    return [(2**players - 1) ^ 1 << player for player in range(players)]


def _over(share: Estimate, whole: Certified) -> Estimate:
    """Return an estimated share as a part of the whole."""
    low = share.lower / whole.upper
    high = min(1.0, share.upper / whole.lower) if whole.lower > 0.0 else 1.0
    middle = share.estimate / (0.5 * (whole.lower + whole.upper))
    return replace(
        share, estimate=min(max(middle, low), high), lower=low, upper=max(low, high)
    )


def _nothing(whole: Certified, game: HiddenGame) -> bool:
    """Return whether the whole gap is 0 as far as floats can tell."""
    if game.whole is None or whole.upper is None:
        return True
    rounding = game.whole.statistics.rounding
    return whole.lower == 0.0 and whole.upper <= NOISE * rounding
