"""How many samples distinguish two models, and how often that fails (Lemmas 4-7).

Lemma 5, replaced (errata E23-E25). If s'_1..s'_n are drawn from p and ||p - q||_1 >=
delta, then

    P( prod q/p >= 1 ) <= BC(p, q)^n <= (1 - delta^2/4)^(n/2) <= exp(-n delta^2 / 8).

Proof: Markov's inequality for the square root of the product, whose mean is BC^n, and
(delta/2)^2 <= TV^2 <= 1 - BC^2. A comparison goes wrong with probability at most
1/(MH), and at most M - 1 comparisons involve the real model, so that it survives all of
them except with probability 1/H (Lemma 4).

Lemma 7. While the real model is one of j whose travel policies are tried in turn, each
for floor(2D) steps, a cycle fails with probability at most D / (floor(2D) + 1) < 1/2
(Markov), so a sample costs at most 2 j floor(2D) + 1 <= 4 j D + 1 expected steps, and
(errata E26: print has four cycles where two suffice)

    E[stage 1] <= n0 sum_{j=2..M} (4 j D + 1) = n0 (M - 1) (2 D (M + 2) + 1)

if only the travel policies of candidates are tried, n0 (M - 1) (4 M D + 1) if those of
all models are (errata E16). The bound also holds if n0 is the expected number of
samples (Wald's identity), as for `Anytime`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import ceil, exp, floor, inf, isfinite, log, log1p
from typing import final

from simgap.bounds.bound import Bound, Quantity, first_fit, named, upper_bound
from simgap.bounds.numbers import real, whole


@final
@dataclass(frozen=True, slots=True)
class Chernoff:
    """n0 = ceil(8 log(MH) / delta^2): the rule of the repaired Algorithm 1."""

    separation: float  # delta, in [0, 2]

    def __post_init__(self) -> None:
        real("separation", self.separation, most=2.0)

    def samples(self, horizon: int, members: int) -> float:
        """Return n0, at least 1; inf if two models are equal (delta = 0)."""
        return _rounded(8.0 * log(members * horizon), self.separation**2)


@final
@dataclass(frozen=True, slots=True)
class Bhattacharyya:
    """n0 = ceil(log(MH) / -log BC) at the pair (s, a) where BC is least."""

    exponent: float  # -log BC of the two models that are hardest to tell apart

    def __post_init__(self) -> None:
        real("exponent", self.exponent)

    def samples(self, horizon: int, members: int) -> float:
        """Return n0 of the hardest comparison, at least 1."""
        return _rounded(log(members * horizon), self.exponent)


@final
@dataclass(frozen=True, slots=True)
class PaperSamples:
    """n0 = ceil(c0 log(SMH)^2 log(MH) / delta^4), as printed in Algorithm 1.

    The paper leaves c0 open (errata E15); from 67 on n0 is no less than Chernoff's for
    S, M >= 2, with or without 1/delta in the logarithm, so that the theorem applies.
    """

    separation: float
    states: int
    c0: float = 67.0

    def __post_init__(self) -> None:
        real("separation", self.separation, most=2.0)
        whole("states", self.states)
        real("c0", self.c0, above=True)

    def samples(self, horizon: int, members: int) -> float:
        """Return n0, at least 1."""
        squared = log(self.states * members * horizon) ** 2
        product = self.c0 * squared * log(members * horizon)
        return _rounded(product, self.separation**4)


@final
@dataclass(frozen=True, slots=True)
class TruncatedRatio:
    """Stop at |LLR| >= log(2MH), or after ceil(8 log(2MH) / delta^2) samples.

    A comparison with the real model goes wrong at level log(2MH) with probability at
    most 1/(2MH) (Ville) and at the last sample with 1/(2MH) (Lemma 5).
    """

    separation: float

    def __post_init__(self) -> None:
        real("separation", self.separation, most=2.0)

    def samples(self, horizon: int, members: int) -> float:
        """Return the last sample: two wrong models may get there."""
        return _rounded(8.0 * log(2 * members * horizon), self.separation**2)


@final
@dataclass(frozen=True, slots=True)
class Anytime:
    """Drop m when some likelihood is MH times that of m, on all data of the episode.

    One of the two models at hand is delta/2 away from the real one, and its ratio has
    at most 2 log(MH) to climb; P(N > n) <= MH exp(-n delta^2/32), summed.
    """

    separation: float

    def __post_init__(self) -> None:
        real("separation", self.separation, most=2.0)

    def samples(self, horizon: int, members: int) -> float:
        """Return 32 (log(MH) + 1) / delta^2 + 2 expected samples per comparison."""
        level = 32.0 * (log(members * horizon) + 1.0)
        return _ratio(level, self.separation**2) + 2.0


ComparisonRule = Chernoff | Bhattacharyya | PaperSamples | TruncatedRatio | Anytime


class Travel(Enum):
    """Whose travel policies Algorithm 2 tries (errata E16)."""

    REMAINING = "those of the candidates left"
    ALL = "those of all models"


def error_of_affinity(samples: int, affinity: float) -> float:
    """Return BC^n, which bounds P(prod q/p >= 1) under p (Lemma 5, replaced)."""
    n = whole("samples", samples, least=0)
    return real("affinity", affinity, most=1.0) ** n


def error_of_separation(samples: int, separation: float) -> float:
    """Return (1 - delta^2/4)^(n/2), at least BC^n and at most exp(-n delta^2/8)."""
    n = whole("samples", samples, least=0)
    delta = real("separation", separation, most=2.0)
    if delta == 2.0:
        return 0.0 if n else 1.0
    return exp(0.5 * n * log1p(-0.25 * delta * delta))


def late_arrival(diameter: float) -> float:
    """Return D / (floor(2D) + 1) < 1/2: a trip takes longer than floor(2D) (Markov)."""
    D = real("diameter", diameter, least=0.0)
    return D / (floor(2.0 * D) + 1.0) if isfinite(D) else 0.5


def trips(members: int, diameter: float, travel: Travel) -> float:
    """Return sum_j (4 j D + 1): steps per sample, over all comparisons (Lemma 7)."""
    M, D = whole("members", members), real("diameter", diameter)
    if M == 1:
        return 0.0
    if travel is Travel.ALL:
        return (M - 1) * (4.0 * M * D + 1.0)
    return (M - 1) * (2.0 * D * (M + 2) + 1.0)


def stage_one(
    rule: ComparisonRule,
    *,
    horizon: int,
    members: int,
    diameter: float,
    travel: Travel = Travel.REMAINING,
) -> Bound:
    """Return the expected length of stage 1 while the real model is in it (Lemma 7)."""
    horizon, cost = whole("horizon", horizon), trips(members, diameter, travel)
    return upper_bound(
        "Lemma 7",
        Quantity.STEPS,
        lambda h: times(rule.samples(h, members), cost),
        horizon,
        constants=named(
            n0=rule.samples(horizon, members), D=diameter, M=members, H=horizon
        ),
        unmet=lacks(rule, members, diameter),
    )


def fits_from(rule: ComparisonRule, *, members: int, comparisons: int = 1) -> float:
    """Return the least H in which so many comparisons fit, travel not counted.

    Before it, Algorithm 1 with this rule cannot end its first comparison (or, with
    M - 1 of them, stage 1): every sample takes a step.
    """
    M = whole("members", members)
    rounds = whole("comparisons", comparisons, least=0)
    return first_fit(lambda h: times(rule.samples(h, M), rounds))


def lacks(rule: ComparisonRule, members: int, diameter: float) -> tuple[str, ...]:
    """Return the assumptions of Lemma 7 that the numbers do not meet."""
    missing = []
    if diameter == inf:
        missing.append("a finite diameter: some state cannot be reached (Assumption 1)")
    apart = rule.exponent if isinstance(rule, Bhattacharyya) else rule.separation
    if members > 1 and apart == 0.0:
        missing.append("a positive separation: two models are equal (Assumption 2)")
    if isinstance(rule, PaperSamples) and (rule.c0 < 67.0 or rule.states < 2):
        missing.append("c0 of at least 67 and two states, or the error is not proved")
    return tuple(missing)


def times(count: float, cost: float) -> float:
    """Return a product in which nothing to do costs nothing, however much it costs."""
    return 0.0 if 0.0 in (count, cost) else count * cost


def _rounded(level: float, rate: float) -> float:
    ratio = _ratio(level, rate)
    return ratio if ratio == inf else float(max(1, ceil(ratio)))


def _ratio(level: float, rate: float) -> float:
    return level / rate if rate > 0.0 else inf
