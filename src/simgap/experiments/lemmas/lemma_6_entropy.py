"""Lemma 6 as printed: the psi_1 norm of log 1/P(X) is 1/e. It is not (errata E23).

    ||Y||_psi1 = sup over p >= 1 of (E |Y|^p)^(1/p) / p

is at least E|Y|, and for Y = log 1/P(X) that is the entropy of X: log 2 > 1/e for a
fair coin, and log S for S equally likely outcomes. (1/e is what a single outcome of
small probability u adds: u^(1/p) log(1/u) / p is greatest at p = log(1/u).)

The norm is bracketed: (E Y^p)^(1/p) does not fall with p, so that on [a, b] the ratio
is at most its value at b times b/a, and beyond max Y / (the best so far) no p matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.experiments.framework.claim import (
    Check,
    Claim,
    ClaimResult,
    Figure,
    KeyNumber,
    Scale,
    Table,
    Tell,
    Verdict,
    exactly,
)
from simgap.experiments.framework.intervals import around, curve, middle
from simgap.intervals import Certified

PRINTED = exp(-1.0)
STEP = 1e-4  # two orders next to each other differ by this part
ROUNDING = 1e-12


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which coins, and how many equally likely outcomes."""

    coins: tuple[float, ...]
    outcomes: tuple[int, ...]


QUICK = Settings(coins=(0.5, 0.3, 0.1), outcomes=(2, 4, 16, 64, 256, 1024))
FULL = Settings(
    coins=(0.5, 0.4, 0.3, 0.2, 0.1),
    outcomes=(2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536),
)


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    tell("norms")
    laws = [(f"coin of {p:g}", np.array([p, 1.0 - p])) for p in settings.coins]
    laws += [(f"{n} equal outcomes", np.full(n, 1.0 / n)) for n in settings.outcomes]
    norms = [psi_1_norm(law) for _, law in laws]
    dice = norms[len(settings.coins) :]
    across = [float(n) for n in settings.outcomes]
    checks = tuple(
        Check(f"{name}: the norm is at most 1/e", norm, exactly(PRINTED))
        for (name, _), norm in zip(laws, norms, strict=True)
    )
    first = norms[0]
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber(f"psi_1 norm of a {laws[0][0]}; print has 0.3679", first),
        summary=f"The norm of a {laws[0][0]} is {middle(first):.4f}, not "
        f"1/e = {PRINTED:.4f}, and for equally likely outcomes it grows like the "
        f"logarithm of their number: {middle(dice[-1]):.3f} for "
        f"{settings.outcomes[-1]}.",
        figures=(
            Figure(
                "The norm grows with the number of outcomes",
                "outcomes S",
                "psi_1 norm of log 1/P",
                (
                    curve("norm", across, dice, certainty="certified"),
                    curve("1/e, as printed", across, [PRINTED] * len(across),
                          bound=True),
                ),
                log_x=True,
            ),
        ),
        tables=(
            Table(
                "Norms and entropies",
                ("law", "entropy", "norm, at least", "norm, at most", "1/e"),
                tuple(
                    (name, _entropy(law), norm.lower,
                     norm.upper, PRINTED)
                    for (name, law), norm in zip(laws, norms, strict=True)
                ),
                ("exact", "exact", "certified", "certified", "exact"),
            ),
        ),
    )  # fmt: skip


def psi_1_norm(law: FloatArray) -> Certified:
    """Return sup over p >= 1 of (E Y^p)^(1/p) / p for Y = log 1/P(X), between ends."""
    levels, counts = np.unique(law[law > 0.0], return_counts=True)
    weight, y = levels * counts, -np.log(levels)
    largest = float(y.max())
    if largest <= 0.0:
        return Certified(0.0, 0.0)  # one sure outcome
    order, best, limit = 1.0, 0.0, 0.0
    while order <= 1.0 or order < largest / best:
        after = order * (1.0 + STEP)
        best = max(best, _moment(weight, y, order) / order)
        limit = max(limit, _moment(weight, y, after) / order)
        order = after
    found = around(best, best * ROUNDING)
    top = around(max(limit, best), limit * ROUNDING)
    return Certified(found.lower, top.upper)


def _entropy(law: FloatArray) -> float:
    possible = law[law > 0.0]
    return float(-possible @ np.log(possible))


def _moment(weight: FloatArray, y: FloatArray, order: float) -> float:
    """Return (E Y^p)^(1/p), scaled so that nothing overflows."""
    largest = float(y.max())
    mean = float(weight @ (y / largest) ** order)
    return largest * exp(log(mean) / order)


CLAIM = Claim(
    name="lemma-6",
    title="Log-likelihoods are sub-exponential with one constant, as printed",
    statement="Whatever the law of X, the sub-exponential (psi_1) norm of log 1/P(X) "
    "is 1/e, so that log-likelihood ratios concentrate at a rate that does not depend "
    "on the number of outcomes.",
    source="Lemma 6, as printed (theory 4.3)",
    expected=Verdict.REFUTED,
    run=run,
    errata=("E23",),
)
