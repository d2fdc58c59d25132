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
from typing import Annotated, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.intervals import Certified
from simgap.records.claim import ClaimVerdict

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


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A law and its norm."""

    name: Annotated[str, "law"]
    entropy: Annotated[float, "entropy"]
    least: Annotated[float, "norm, at least"]
    most: Annotated[float, "norm, at most"]
    printed: Annotated[float, "1/e"]

    @property
    def norm(self) -> Certified:
        """Return the norm with its ends."""
        return Certified(self.least, self.most)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    tell("norms")
    coins = [_row(f"coin of {p:g}", np.array([p, 1.0 - p])) for p in settings.coins]
    dice = [_row(f"{n} equal outcomes", np.full(n, 1.0 / n)) for n in settings.outcomes]
    printed, first = [PRINTED] * len(dice), coins[0]
    return ClaimResult(
        checks=tuple(
            check(f"{row.name}: the norm is at most 1/e", row.norm, PRINTED)
            for row in coins + dice
        ),
        key=(f"psi_1 norm of a {first.name}; print has 0.3679", first.norm),
        summary=f"The norm of a {first.name} is {first.norm.middle:.4f}, not "
        f"1/e = {PRINTED:.4f}, and for equally likely outcomes it grows like the "
        f"logarithm of their number: {dice[-1].norm.middle:.3f} for "
        f"{settings.outcomes[-1]}.",
        figures=(
            figure(
                "The norm grows with the number of outcomes",
                "outcomes S",
                "psi_1 norm of log 1/P",
                curve("norm", settings.outcomes, [row.norm for row in dice]),
                curve("1/e, as printed", settings.outcomes, printed, bound=True),
                log_y=False,
            ),
        ),
        tables=(table("Norms and entropies", coins + dice),),
    )


def _row(name: str, law: FloatArray) -> Row:
    norm, possible = psi_1_norm(law), law[law > 0.0]
    entropy = float(-possible @ np.log(possible))
    return Row(name, entropy, norm.lower, norm.upper, PRINTED)


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
    found = Certified.around(best, best * ROUNDING)
    top = Certified.around(max(limit, best), limit * ROUNDING)
    return Certified(found.lower, top.upper)


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
    expected=ClaimVerdict.REFUTED,
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E23",),
)
