"""Theorem 3 and its relatives: what no policy can avoid, with constants.

Bandit (theory 4.10): M arms, model m has one arm of mean 1/2 + e, the others 1/2. With
n = H - 1 pulls and kl = kl(1/2, 1/2 + e) = -log(1 - 4 e^2)/2, every policy has

    mean gap >= n e (1 - 1/M - sqrt(n kl / (2M))).

Proof: E_m N_m <= E_0 N_m + n sqrt(E_0[N_m] kl / 2) (Pinsker), averaged over m.

Theorem 3 (theory 4.11): a tree of switches, one of which flips with delta + e instead
of delta. With N0 = (H + 1/delta)/2 and kl = kl(delta, delta + e), every policy has

    mean gap >= mean V*_m - H/2 - (e/(2 delta)) [ N0/M + H sqrt(N0 kl / (2M)) ].

Proof: let N be the number of pulls and N_m that of pulls of the good switch. The
expected number of steps that pay is at most E N + (e/delta) E N_m, and a step either
pays or is at most one pull, so V^pi_m <= H/2 + (e/(2 delta)) E_m N_m. In the null model
(e = 0) E N <= N0. Then as above. V*_m >= H rho - D, rho = (delta + e)/(2 delta + e).
The printed sketch takes delta = 1/D, which more than doubles the diameter (errata E34).

Both bounds hold for random policies too. They are bounds on the average over the class,
hence also on the gap in the worst model, and they hold for the oracle.

Without memory, or without randomization, the loss is linear in H (theory 4.19, 4.20).
"""

from __future__ import annotations

from math import ceil, floor, inf, isfinite, log, log1p, sqrt

from simgap.bounds.bound import (
    Bound,
    Formula,
    Kind,
    Quantity,
    first_above_zero,
    named,
)
from simgap.bounds.numbers import LONGEST, real, whole

UNIVERSAL = 0.0177  # of sqrt(DMH), theory 4.11


def best_arm_lower(*, horizon: int, members: int, e: float) -> Bound:
    """Return the bandit bound for one e: every policy loses as much on average.

    For fixed e it is positive from two steps on, if at all: it is a line in n that a
    power of n bends down.
    """
    M, horizon = whole("members", members, least=2), whole("horizon", horizon)
    e = real("e", e, most=0.5, above=True)
    return _lower(
        "bandit lower bound",
        lambda h: _best_arm(h, M, e),
        horizon,
        first=2 if _best_arm(2, M, e) > 0.0 else inf,
        M=M,
        e=e,
    )


def hardest_best_arm_lower(*, horizon: int, members: int) -> Bound:
    """Return the bandit bound at the e that makes it greatest.

    e sqrt(kl) is convex in e, so the bound is concave in e and a search by thirds ends
    at its top; every e on the way is a class for which the bound holds.
    """
    M, horizon = whole("members", members, least=2), whole("horizon", horizon)
    return _lower(
        "bandit lower bound",
        lambda h: _best_arm(h, M, _hardest_e(h, M)),
        horizon,
        first=2,
        M=M,
        e=_hardest_e(horizon, M),
    )


def switch_tree_lower(
    *,
    horizon: int,
    members: int,
    delta: float,
    e: float,
    diameter: float,
    mean_optimal: float | None = None,
) -> Bound:
    """Return the bound of Theorem 3 on its own class, for given delta and e.

    `diameter` is 2/delta plus the width of the tree, 1/delta for a single switch.
    `mean_optimal` is the mean of V*_m(s1) over the class if it is known; H rho - D
    stands in for it otherwise.
    """
    M, horizon = whole("members", members), whole("horizon", horizon)
    delta = real("delta", delta, most=1.0, above=True)
    e, D = real("e", e, most=1.0 - delta), real("diameter", diameter)
    gain, kl = (delta + e) / (2.0 * delta + e), bernoulli_kl(delta, delta + e)

    def avoidable(h: int) -> float:
        tries = (h + 1.0 / delta) / 2.0
        told = h * sqrt(tries * kl / (2.0 * M)) if kl else 0.0
        return h / 2.0 + e / (2.0 * delta) * (tries / M + told)

    def formula(h: int) -> float:
        return h * gain - D - avoidable(h)

    constants = {"delta": delta, "e": e, "D": D, "M": M, "rho": gain, "kl": kl}
    if mean_optimal is None:
        first = first_above_zero(formula) if isfinite(D) else inf
        return _lower("Theorem 3 (formula)", formula, horizon, first=first, **constants)
    return Bound(
        claim="Theorem 3 (formula)",
        quantity=Quantity.HARDEST_CLASS,
        kind=Kind.LOWER,
        value=real("mean_optimal", mean_optimal) - avoidable(horizon),
        horizon=horizon,
        constants=named(V=mean_optimal, **constants),
    )


def lower_bound(
    *, horizon: int, members: int, diameter: float, states: int, actions: int
) -> Bound:
    """Return 0.0177 sqrt(DMH): some class of this size costs every policy that much.

    Theorem 3 (theory 4.11) for M >= 100, A >= 10, D >= 20 log_A M, H >= DM and
    M <= floor(S/2) floor((A-1)/2); print has M <= SA (errata E35). For so many actions
    as can be given here D is at least 2 (errata E41).
    """
    horizon, M = whole("horizon", horizon), whole("members", members)
    S, A = whole("states", states), whole("actions", actions)
    D = real("diameter", diameter)
    pairs = floor(S / 2) * floor((A - 1) / 2)
    long_enough, far = D * M, 20.0 * log(M) / log(max(A, 2))
    asked = {
        "at least 100 models": M >= 100,
        "at least 10 actions": A >= 10,
        "a finite diameter": isfinite(D),
        "a diameter of at least 20 log M / log A": A > 1 and far <= D,
        f"at most floor(S/2) floor((A-1)/2) = {pairs} models": pairs >= M,
    }
    unmet = tuple(words for words, met in asked.items() if not met)
    short = () if horizon >= long_enough else ("a horizon of at least D M steps",)
    first = ceil(long_enough) if long_enough <= LONGEST else inf
    return Bound(
        claim="Theorem 3",
        quantity=Quantity.HARDEST_CLASS,
        kind=Kind.LOWER,
        value=UNIVERSAL * sqrt(D * M * horizon),
        horizon=horizon,
        constants=named(constant=UNIVERSAL, D=D, M=M, S=S, A=A),
        unmet=unmet + short,
        non_vacuous_from=inf if unmet else max(1, first),
        formula=lambda h: UNIVERSAL * sqrt(D * M * h),
    )


def memoryless_lower(*, horizon: int, members: int, better: float) -> Bound:
    """Return what every policy without memory loses on average (theory 4.19).

    M arms of one mean, of which arm m is better by g in model m: with n = H - 1 pulls
    at least g [(1 - 1/M) + (n - 1) (1 - (1 + g)/M)], which is linear in H.
    """
    M, horizon = whole("members", members), whole("horizon", horizon)
    g = real("better", better, most=1.0)

    def formula(h: float) -> float:
        pulls = h - 1
        good = 1.0 / M + (pulls - 1) * min(1.0, (1.0 + g) / M)
        return max(0.0, g * (pulls - good)) if pulls >= 1 else 0.0

    return Bound(
        claim="no memory",
        quantity=Quantity.WITHOUT_MEMORY,
        kind=Kind.LOWER,
        value=formula(horizon),
        horizon=horizon,
        constants=named(M=M, g=g),
        unmet=_few(M >= 2, "at least 2 models"),
        non_vacuous_from=2 if M >= 2 and g > 0.0 else inf,
        formula=formula,
    )


def untrained_lower(*, horizon: int, excess: float = 0.0, weight: float = 1.0) -> Bound:
    """Return what is lost in a model that a policy was not trained on (theory 4.20).

    The policy has an average value within `excess` of the best one over some models of
    the class, and the model without a better arm has `weight` among them: in a model
    whose better arm is not trained it loses at least (1 - 4 excess/weight)(H - 1)/4.
    """
    horizon = whole("horizon", horizon)
    part = 1.0 - 4.0 * real("excess", excess) / real("weight", weight, above=True)
    return Bound(
        claim="no randomization",
        quantity=Quantity.UNTRAINED,
        kind=Kind.LOWER,
        value=max(0.0, part) * (horizon - 1) / 4.0,
        horizon=horizon,
        constants=named(excess=excess, weight=weight),
        non_vacuous_from=2 if part > 0.0 else inf,
        formula=lambda h: max(0.0, part) * (h - 1) / 4.0,
    )


def no_diameter(*, horizon: int, members: int) -> Bound:
    """Return (1 - 1/M)(H - 2), the worst gap of every oracle on the doors (Prop. 1).

    It is their mean gap as well, and attained by a door drawn at random. A fixed door
    is optimal too and has no gap in one model (errata E32).
    """
    M, horizon = whole("members", members), whole("horizon", horizon)
    return Bound(
        claim="Proposition 1",
        quantity=Quantity.ORACLE_ON_CLASS,
        kind=Kind.LOWER,
        value=(1.0 - 1.0 / M) * (horizon - 2),
        horizon=horizon,
        constants=named(M=M),
        unmet=_few(M >= 2, "at least 2 models")
        + _few(horizon >= 3, "at least 3 steps"),
        non_vacuous_from=3 if M >= 2 else inf,
        formula=lambda h: (1.0 - 1.0 / M) * (h - 2),
    )


def large_class(
    *, horizon: int, shortfalls: tuple[float, ...], bonus: float = 0.5
) -> Bound:
    """Return (H - 1) bonus, the gap of every oracle in the last model (Prop. 2).

    `shortfalls` are the p_i of the other models, whose second arm has mean 1/2 - p_i;
    in the last one it has 1/2 + bonus. The oracle never pulls it if the p_i sum to more
    than (H - 1) bonus: with a bonus of 1/2, as printed, for M = 4H + 5 but not for
    every M >= H; with 1/4 for every M >= H (errata E33).
    """
    horizon, total = whole("horizon", horizon), sum(shortfalls)
    bonus = real("bonus", bonus, most=0.5, above=True)
    between = all(0.25 < real("shortfall", p) < 0.5 for p in shortfalls)
    enough = total > (horizon - 1) * bonus
    first = 2 if total > bonus and between else inf
    return Bound(
        claim="Proposition 2",
        quantity=Quantity.ORACLE_ON_CLASS,
        kind=Kind.LOWER,
        value=(horizon - 1) * bonus,
        horizon=horizon,
        constants=named(M=len(shortfalls) + 1, sum_p=total, bonus=bonus),
        unmet=_few(between, "every p_i between 1/4 and 1/2")
        + _few(enough, f"a sum of p_i above {bonus:g} (H - 1)"),
        non_vacuous_from=first,
        formula=lambda h: (h - 1) * bonus,
    )


def bernoulli_kl(p: float, q: float) -> float:
    """Return kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)); inf where q excludes p."""
    p, q = real("p", p, most=1.0), real("q", q, most=1.0)
    if (p > 0.0 and q == 0.0) or (p < 1.0 and q == 1.0):
        return inf
    up = p * log(p / q) if p else 0.0
    down = (1.0 - p) * (log1p(-p) - log1p(-q)) if p < 1.0 else 0.0
    return max(0.0, up + down)


def _best_arm(horizon: int, members: int, e: float) -> float:
    n = horizon - 1
    if n == 0:
        return 0.0
    if e == 0.5:
        return -inf  # one win of a sure arm tells it: kl is infinite
    kl = -0.5 * log1p(-4.0 * e * e)
    return n * e * (1.0 - 1.0 / members - sqrt(n * kl / (2.0 * members)))


def _hardest_e(horizon: int, members: int) -> float:
    low, high = 0.0, 0.5
    for _ in range(200):
        third = (high - low) / 3.0
        if _best_arm(horizon, members, low + third) < _best_arm(
            horizon, members, high - third
        ):
            low += third
        else:
            high -= third
    return (low + high) / 2.0


def _lower(
    claim: str, formula: Formula, horizon: int, *, first: float, **numbers: float
) -> Bound:
    return Bound(
        claim=claim,
        quantity=Quantity.HARDEST_CLASS,
        kind=Kind.LOWER,
        value=formula(horizon),
        horizon=horizon,
        constants=named(**numbers),
        non_vacuous_from=first,
        formula=formula,
    )


def _few(met: bool, words: str) -> tuple[str, ...]:
    return () if met else (words,)
