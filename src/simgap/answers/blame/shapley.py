"""Shares of a whole: the Shapley value of a game known between two ends.

A game v gives every set S of n players a number, v(empty) = 0. The Shapley value is

    phi_p = sum over S without p of |S|! (n - |S| - 1)! / n!  (v(S + p) - v(S)),

the mean of what p adds to those before it in a random order (Shapley 1953). The shares
sum to v(N), a player that never adds anything gets 0, and interchangeable players get
the same. Games here are monotone: no player ever takes away.

The dual w(S) = v(N) - v(N - S) has the same Shapley value. What p adds to S in w is
v(N - S) - v(N - S - p), which is what p adds to S' = N - S - p in v; S -> S' maps the
sets without p onto themselves, and their weights agree because |S'| = n - |S| - 1.

Sets are written as bits: player p is in the set s if s >> p & 1. Every sum is rounded
outwards, so that ends that hold before hold after.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray, owned, read_only
from simgap.errors import InvalidArgument
from simgap.intervals import EPS, Certified

CROSSING = 1e-9  # of the largest number, by rounding
MOST_PLAYERS = 16  # of a table of all sets


@final
@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """A monotone game between two ends; set s is at position s."""

    players: int
    lower: FloatArray  # (2^n,)
    upper: FloatArray  # (2^n,)

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        if not 0 <= self.players <= MOST_PLAYERS:
            raise InvalidArgument(
                f"a table for {self.players} players",
                hint=f"at most {MOST_PLAYERS}; join some, or sample orders",
            )
        shape = (2**self.players,)
        if self.lower.shape != shape or self.upper.shape != shape:
            raise InvalidArgument(
                f"tables of shape {self.lower.shape} and {self.upper.shape} for "
                f"{self.players} players",
                hint="one number for each set of players",
            )
        empty = (float(self.lower[0]), float(self.upper[0]))
        if not (self.lower <= self.upper).all() or empty != (0.0, 0.0):
            raise InvalidArgument(
                f"a game with crossed ends, or with {empty} for nobody",
                hint="lower <= upper, and both are 0 for the empty set",
            )

    @property
    def whole(self) -> Certified:
        """Return v(N)."""
        return Certified(float(self.lower[-1]), float(self.upper[-1]))


def shapley_shares(game: Game) -> tuple[Certified, ...]:
    """Return the Shapley value of every player between two ends."""
    found = [_share(game, player) for player in range(game.players)]
    most = float(game.upper[-1])
    clipped = [Certified(low, min(high, most)) for low, high in found]
    return summing_to(clipped, game.whole)


def shapley_parts(game: Game) -> tuple[Certified, ...]:
    """Return phi_p / v(N) between two ends; v(N) may be anything positive in its ends.

    The same v(N) = t is in numerator and denominator. The share is r + (t - u) / n with
    u = v(N - p) and r from smaller sets, so that the part is 1 / n + (r - u / n) / t,
    monotone in t: its ends are at ends of t, or where a marginal is cut off at 0.
    """
    low, high = float(game.lower[-1]), float(game.upper[-1])
    if not high > 0.0:
        raise InvalidArgument("parts of a whole of 0", hint="there is nothing to share")
    n, found = game.players, []
    for player in range(n):
        without = (2**n - 1) ^ (1 << player)
        u_low, u_high = float(game.lower[without]), float(game.upper[without])
        r_low, r_high = _share(game, player, but_last=True)
        kinks = [t for t in (low, high, u_high) if low <= t <= high and t > 0.0]
        below = [(r_low + max(0.0, t - u_high) / n) / t for t in kinks]
        above = [(r_high + max(0.0, t - u_low) / n) / t for t in (low, high) if t > 0.0]
        least = min(below) * (1.0 - 8.0 * EPS)
        most = 1.0 if low <= 0.0 else max(above) * (1.0 + 8.0 * EPS)
        found.append(Certified(max(0.0, least), min(1.0, most)))
    return summing_to(found, Certified(1.0, 1.0))


def leading_player(game: Game) -> int | None:
    """Return the player with the largest share; None if the ends leave that open."""
    for player in range(game.players):
        others = (other for other in range(game.players) if other != player)
        if all(_least_lead(game, player, other) > 0.0 for other in others):
            return player
    return None


def sets_without(player: int, players: int) -> tuple[OffsetArray, FloatArray]:
    """Return the sets without a player, and their weights in its Shapley value."""
    every = np.arange(2**players)
    before = every[every >> player & 1 == 0]
    sizes = range(players)
    weights = np.array([1.0 / (players * comb(players - 1, k)) for k in sizes])
    return before, weights[np.bitwise_count(before)]


def narrowed(
    sets: OffsetArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of some sets, narrowed because a larger set has a larger number.

    Ends that cross by rounding are put in order again, on the safe side; ends that
    cross by more are a defect.
    """
    low, high = np.empty_like(lower), np.empty_like(upper)
    for at, here in enumerate(sets):
        low[at] = lower[sets & ~here == 0].max()
        high[at] = upper[here & ~sets == 0].min()
    crossed = low > high
    if (low - high > CROSSING * np.abs(upper).max(initial=0.0)).any():
        raise AssertionError("a larger set has a smaller number: a defect")
    low[crossed], high[crossed] = high[crossed], low[crossed]
    return owned(low), owned(high)


def summing_to(shares: list[Certified], whole: Certified) -> tuple[Certified, ...]:
    """Return shares narrowed because together they are the whole."""
    low = np.array([each.lower for each in shares], np.float64)
    high = np.array([each.upper for each in shares], np.float64)
    slack = 2.0 * EPS * (len(shares) + 2) * (high.sum() + whole.upper)
    others_low, others_high = low.sum() - low, high.sum() - high
    least = np.maximum(low, whole.lower - others_high - slack)
    most = np.minimum(high, whole.upper - others_low + slack)
    return tuple(
        Certified(float(a), float(max(a, b))) for a, b in zip(least, most, strict=True)
    )


def _least_lead(game: Game, player: int, other: int) -> float:
    """Return how much larger one share is than another, at least.

    phi_p - phi_q = sum over S without both of |S|! (n - |S| - 2)! / (n - 1)!
    (v(S + p) - v(S + q)). The whole does not enter: shares whose ends overlap because
    it is known badly may still be in a known order.
    """
    n, every = game.players, np.arange(2**game.players)
    both = 1 << player | 1 << other
    rest = every[every & both == 0]
    weights = np.array([1.0 / ((n - 1) * comb(n - 2, k)) for k in range(n - 1)])
    mine: FloatArray = game.lower[rest | 1 << player]
    theirs: FloatArray = game.upper[rest | 1 << other]
    chosen = weights[np.bitwise_count(rest)]
    slack: float = (rest.size + 4) * EPS * float(chosen @ (mine + theirs))
    return float(chosen @ (mine - theirs)) - slack


def _share(game: Game, player: int, *, but_last: bool = False) -> tuple[float, float]:
    """Return the ends of the weighted sum of marginals, none of which is negative."""
    before, weights = sets_without(player, game.players)
    if but_last:
        before, weights = before[:-1], weights[:-1]
    after = before | 1 << player
    least = np.maximum(0.0, game.lower[after] - game.upper[before])
    most = np.maximum(0.0, game.upper[after] - game.lower[before])
    roomy = (before.size + 4) * EPS
    slack = roomy * float(weights @ (game.upper[after] + game.upper[before]))
    return (
        max(0.0, float(weights @ least) - slack),
        float(weights @ most) + slack,
    )
