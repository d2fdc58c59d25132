"""Lemma 5, replaced: how often a likelihood ratio of n samples prefers the wrong model.

If s'_1..s'_n are drawn from p and ||p - q||_1 >= delta, then (theory 4.3)

    P( prod q/p >= 1 ) <= BC(p, q)^n <= (1 - delta^2/4)^(n/2) <= exp(-n delta^2 / 8),

so n0 = ceil(8 log(MH) / delta^2) samples leave an error of at most 1/(MH), where print
asks for log^2(SMH/delta) log(MH) / delta^4 (errata E15, E23 - E25). Errors are exact:
laws are fractions, likelihoods are compared as whole numbers, and every split of n
samples over the outcomes is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, exp, factorial, log, prod, sqrt
from typing import Annotated, final

import numpy as np

from simgap.bounds import (
    Bhattacharyya,
    Chernoff,
    error_of_affinity,
    error_of_separation,
)
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.intervals import Certified, greatest
from simgap.records.claim import Figure

Law = tuple[Fraction, ...]
RELATIVE = 1e-12  # what floats do to a power of BC
PARTS = 20  # random laws are in twentieths


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which comparisons of coins, and how many of dice."""

    coins: tuple[tuple[str, str, int, int], ...]  # p, q, M, H
    dice: int
    outcomes: int  # at most
    samples: int  # of dice, at most
    share: float = 1.0  # of BC^n that is held against; a control takes less


ROWS = (("1/2", "3/5", 4, 100), ("1/10", "1/5", 4, 100), ("7/20", "1/4", 2, 10))
MORE = (("9/10", "1/2", 3, 1000), ("1/100", "1/10", 10, 10**4), ("2/5", "1/2", 2, 2))
QUICK = Settings(coins=ROWS + MORE, dice=40, outcomes=4, samples=12)
FULL = Settings(
    coins=(*ROWS, *MORE, ("1/2", "11/20", 8, 10**4), ("1/5", "11/50", 2, 100)),
    dice=300,
    outcomes=5,
    samples=16,
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: its exact error and the three bounds."""

    name: Annotated[str, "p, q, M, H"]
    samples: Annotated[int, "n"]
    error: Annotated[float, "exact error"]
    affinity: Annotated[Certified, "BC^n"]
    chernoff: Annotated[float, "exp(-n delta^2/8)"]
    promised: Annotated[float, "1/(MH)"]  # for n0 samples; 0: nothing is
    separation: Certified  # (1 - delta^2/4)^(n/2)

    @property
    def bracket(self) -> Certified:
        """The error, which was rounded."""
        return Certified.around(self.error, self.error * RELATIVE)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    tell("coins")
    coins = [row for coin in settings.coins for row in _coin_rows(*coin)]
    tell("dice")
    dice = list(_dice_rows(settings, np.random.default_rng(seed)))
    rows = coins + dice
    share = settings.share
    worst = greatest([row.bracket / (row.affinity * share) for row in rows])
    checks = (
        check(
            f"the exact error of {len(rows)} comparisons is at most BC^n: the "
            "greatest ratio",
            worst,
            1.0 + RELATIVE,
        ),
        check(
            "BC^n is at most (1 - delta^2/4)^(n/2): the greatest ratio",
            greatest([row.affinity / row.separation for row in rows]),
            1.0 + 10 * RELATIVE,
        ),
        check(
            "and that at most exp(-n delta^2/8): the greatest ratio",
            greatest([row.separation / row.chernoff for row in rows]),
            1.0 + RELATIVE,
        ),
        check(
            "with n0 = ceil(8 log(MH)/delta^2) samples, or as many as BC asks for, the "
            "error is at most 1/(MH): the greatest ratio",
            greatest([row.bracket / (row.promised * share) for row in coins]),
            1.0,
        ),
    )
    return ClaimResult(
        checks=checks,
        key=("greatest exact error over BC^n", worst),
        summary=f"{len(rows)} exact error probabilities: at most "
        f"{worst.middle:.3f} of BC^n; for coins .5 and .6 with M = 4 and H = 100, "
        f"{coins[0].samples} samples err with probability "
        f"{coins[0].error:.3e}, where 1/(MH) = {coins[0].promised} is promised.",
        figures=(_figure(),),
        tables=(table("Coins: exact errors of the likelihood ratio", coins),),
    )


def wrong_ratio(n: int, p: Law, q: Law) -> Fraction:
    """Return P(prod q/p >= 1) for n draws from p, exactly."""
    scale = prod({each.denominator for each in (*p, *q)})
    ours, theirs = ([int(each * scale) for each in law] for law in (p, q))
    total = 0
    for counts in _splits(n, len(p)):
        under_p = prod(a**c for a, c in zip(ours, counts, strict=True))
        if under_p and prod(b**c for b, c in zip(theirs, counts, strict=True)) >= (
            under_p
        ):
            ways = factorial(n)
            for count in counts:
                ways //= factorial(count)
            total += ways * under_p
    return Fraction(total, scale**n)


def wrong_coin(n: int, p: Fraction, q: Fraction) -> Fraction:
    """Return P(prod q/p >= 1) for n tosses of a coin: a tail of the binomial.

    The ratio is monotone in the number of heads, so one comparison of whole numbers per
    step of a bisection finds where the tail begins.
    """
    scale = p.denominator * q.denominator
    ours = int(p * scale), int((1 - p) * scale)
    theirs = int(q * scale), int((1 - q) * scale)

    def wrong(heads: int) -> bool:
        under_q: int = theirs[0] ** heads * theirs[1] ** (n - heads)
        under_p: int = ours[0] ** heads * ours[1] ** (n - heads)
        return under_q >= under_p

    rising = q > p
    low, high = 0, n + 1  # the least number of heads with wrong == rising
    while low < high:
        half = (low + high) // 2
        if wrong(half) == rising:
            high = half
        else:
            low = half + 1
    tail = range(low, n + 1) if rising else range(low)
    return Fraction(_tail(n, tail, p), p.denominator**n)


def _tail(n: int, heads: range, p: Fraction) -> int:
    """Return the sum over k of (n over k) a^k b^(n-k), p = a/(a + b)."""
    up, down = p.numerator, p.denominator - p.numerator
    if not heads:
        return 0
    if down == 0:  # heads for sure
        return up**n if n in heads else 0
    first = heads.start
    term = comb(n, first) * up**first * down ** (n - first)
    total = 0
    for k in heads:
        total += term
        term = term * (n - k) * up // ((k + 1) * down)  # exact: the next one is whole
    return total


def _coin_rows(p: str, q: str, members: int, horizon: int) -> Iterator[Row]:
    """Yield the comparison with n0 samples and with as many as BC asks for."""
    heads, rival = Fraction(p), Fraction(q)
    laws: tuple[Law, Law] = (heads, 1 - heads), (rival, 1 - rival)
    delta, affinity = _distance(*laws), _affinity(*laws)
    rules = (("n0", Chernoff(delta)), ("by BC", Bhattacharyya(-log(affinity))))
    for word, rule in rules:
        n = int(rule.samples(horizon, members))
        yield _row(
            f"{p}, {q}, {members}, {horizon} ({word})",
            n,
            wrong_coin(n, heads, rival),
            laws,
            1.0 / (members * horizon),
        )


def _dice_rows(settings: Settings, rng: np.random.Generator) -> Iterator[Row]:
    for number in range(settings.dice):
        outcomes = int(rng.integers(2, settings.outcomes + 1))
        while True:
            p, q = (_random_law(rng, outcomes) for _ in range(2))
            if p != q and _affinity(p, q) > 0.0:
                break
        n = int(rng.integers(1, settings.samples + 1))
        yield _row(f"die {number}", n, wrong_ratio(n, p, q), (p, q))


def _row(
    name: str,
    n: int,
    error: Fraction,
    laws: tuple[Law, Law],
    promised: float = 0.0,
) -> Row:
    delta, affinity = _distance(*laws), _affinity(*laws)
    power = error_of_affinity(n, affinity)
    return Row(
        name=name,
        samples=n,
        error=float(error),
        affinity=Certified.around(power, power * RELATIVE * max(1, n // 100)),
        chernoff=exp(-n * delta**2 / 8.0),
        promised=promised,
        separation=Certified.around(error_of_separation(n, delta), 0.0),
    )


def _figure() -> Figure:
    p, q = Fraction(1, 2), Fraction(3, 5)
    laws: tuple[Law, Law] = (p, 1 - p), (q, 1 - q)
    tried = (1, 10, 30, 100, 200, 400, 600, 800, 1000, 1199)
    rows = [_row("", n, wrong_coin(n, p, q), laws) for n in tried]
    return figure(
        "A fair coin taken for one of .6",
        "samples n",
        "probability",
        curve("exact error", tried, [row.error for row in rows]),
        curve("BC^n", tried, [row.affinity for row in rows], bound=True),
        curve("exp(-n delta^2/8)", tried, [row.chernoff for row in rows], bound=True),
        marks=((1199.0, "n0 for M = 4, H = 100"),),
        log_x=False,
    )


def _splits(n: int, outcomes: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to share n samples among the outcomes."""
    for bars in combinations(range(n + outcomes - 1), outcomes - 1):
        edges = (-1, *bars, n + outcomes - 1)
        yield tuple(edges[i + 1] - edges[i] - 1 for i in range(outcomes))


def _random_law(rng: np.random.Generator, outcomes: int) -> Law:
    parts = rng.multinomial(PARTS, np.full(outcomes, 1.0 / outcomes))
    return tuple(Fraction(int(part), PARTS) for part in parts)


def _distance(p: Law, q: Law) -> float:
    return float(sum(abs(a - b) for a, b in zip(p, q, strict=True)))


def _affinity(p: Law, q: Law) -> float:
    return sum(sqrt(a * b) for a, b in zip(p, q, strict=True))


CLAIM = Claim(
    name="lemma-5",
    title="A few samples tell two simulators apart",
    statement="If two simulators differ by delta in some state and action, the "
    "likelihood of 8 log(MH) / delta^2 samples taken there prefers the wrong one with "
    "probability at most 1/(MH), whatever the number of states.",
    source="Lemma 5, replaced (theory 4.3, rows 29-31)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E15", "E24", "E25"),
)
