"""An infinite class that can be solved exactly: one arm is known, one is not.

Two arms, as in Proposition 2. The first wins half the time. The second has mean t, any
number of [0, 1]: the models are t = u^K for u in [0, 1], and nu is uniform in u. Then
P(t <= x) = x^(1/K), which is the law Beta(1/K, 1), and after s wins and f failures of
the second arm it wins the next pull with chance (1/K + s) / (1/K + 1 + s + f). H steps
have n = H - 1 pulls. Nothing is learnt from the first arm, so that an oracle pulls the
second one for a while and then never again (Bradt, Johnson and Karlin, 1956): a
recursion over (s, f), in Fractions.

All models have diameter at most 2, span 1, V* = n max(1/2, t), and differ in one
number: |P - P'|_1 = 2 |t - t'|, eluder dimension 1, N(F, 1/H) = ceil(H/2).

For K >= H the second arm is never pulled. If it ever is, the first pull costs
1/2 - E t, and later ones earn at most (n - 1) E (t - 1/2)+, where (t - 1/2)+ <= t^2/2:

    (n - 1) E t^2 / 2 = (n - 1) / (2 (1 + 2K)) < 1/2 - 1/(1 + K) = 1/2 - E t.

Then the policy's value is n/2 in every model, so that L = 0 in Assumption 3 for every
metric and radius, and its gap is n (t - 1/2)+: n/2 at t = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.intervals import Certified

HALF = Fraction(1, 2)
DIAMETER = 2.0
FARTHEST = 2.0  # |P - P'|_1 of t = 0 and t = 1: the ball is the class
OFF = 1e-9  # more than rounding does to any number below, as a part of it


@final
@dataclass(frozen=True)
class UnknownArm:
    """The class for a horizon, with u uniform and t = u^K."""

    horizon: int
    power: int  # K

    @property
    def pulls(self) -> int:
        return self.horizon - 1

    @property
    def covering(self) -> int:
        """N(F, 1/H): balls of radius 1/H on [0, 1]."""
        return ceil(self.horizon / 2)

    @property
    def never_pulled(self) -> bool:
        """Whether the inequality above proves it."""
        n, K = self.pulls, self.power
        return n < 2 or Fraction(n - 1, 2 * (1 + 2 * K)) < HALF - Fraction(1, 1 + K)

    @property
    def idle(self) -> bool:
        """Whether no oracle pulls the second arm."""
        return self.never_pulled or not self._paths

    @cached_property
    def advantage(self) -> Fraction:
        """What the oracle's mean value has above n/2."""
        return Fraction(0) if self.never_pulled else self._advantages[0][0]

    def gap(self, t: Fraction) -> Fraction:
        """Return the oracle's gap in the model of mean t, exactly."""
        best = self.pulls * max(t - HALF, Fraction(0))
        if self.idle:
            return best
        earned = sum(
            (many * t**s * (1 - t) ** f for (s, f), many in self._paths.items()),
            Fraction(0),
        )
        return best - earned * (t - HALF)

    @property
    def mean_gap(self) -> Certified:
        """E gap over the class: n E (t - 1/2)+ less the advantage."""
        a = 1.0 / self.power
        above = 0.5 - (1.0 - 2.0 ** -(a + 1.0)) / (a + 1.0)
        return Certified.around(
            self.pulls * above - float(self.advantage), OFF * self.pulls
        )

    def mass(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the chance of a mean between two numbers, rounded up."""
        a = 1.0 / self.power
        found = np.minimum(high, 1.0) ** a - np.maximum(low, 0.0) ** a
        return np.asarray(np.minimum(found + OFF, 1.0))

    @property
    def gap_constant(self) -> float:
        """L_gap for the greatest L1 distance, from the class alone.

        V* changes by at most n |t - t'|. The value of a policy that never pulls does
        not change, that of any other by at most H(H - 1)/4 (theory 4.1c).
        """
        of_policy = 0.0 if self.idle else self.horizon * (self.horizon - 1) / 4.0
        return of_policy + self.pulls / 2.0

    def excess(
        self, base: Certified, lipschitz: float, *, cells: int = 400, radii: int = 200
    ) -> Certified:
        """Return the greatest gap less promise over all models and all balls.

        The promise is E / nu(C_eps) + L eps, E a mean gap between two ends. Models and
        radii are a continuum: the lower end is the worst of a grid, the upper end
        counts in every cell of it the greatest gap and the least promise there.
        """
        low, high = base.ends
        points = [Fraction(i, cells) for i in range(cells + 1)]
        gaps = [float(self.gap(t)) for t in points]
        eps = np.linspace(0.0, FARTHEST, radii + 1)
        rising = 0.0 if self.idle else 2.0 * self.gap_constant / cells
        worst, surely = -np.inf, -np.inf
        for place, t in enumerate(points):
            at, wide = float(t), eps[1:] / 2.0
            mass = np.maximum(self.mass(at - wide, at + wide) - 2.0 * OFF, OFF)
            promise = max(0.0, high) / mass + lipschitz * eps[1:]
            worst = max(worst, gaps[place] - float(promise.min()))
            if place == cells:
                break
            after = at + 1.0 / cells
            promise = max(0.0, low) / self.mass(at - wide, after + wide)
            most = gaps[place + 1] + rising  # idle: the gap rises with t
            least = float((promise + lipschitz * eps[:-1]).min())
            surely = max(surely, most - least)
        return Certified(worst, max(worst, surely))

    @cached_property
    def _advantages(self) -> list[list[Fraction]]:
        """What is still to be had above n/2 after s wins and f failures, [s][f]."""
        n, a = self.pulls, Fraction(1, self.power)
        later = [[Fraction(0)] * (n + 1) for _ in range(n + 1)]
        for tried in range(n - 1, -1, -1):
            for s in range(tried + 1):
                f = tried - s
                win = (a + s) / (a + 1 + tried)
                pull = win - HALF + win * later[s + 1][f] + (1 - win) * later[s][f + 1]
                later[s][f] = max(Fraction(0), pull)
        return later

    @cached_property
    def _paths(self) -> dict[tuple[int, int], int]:
        """In how many orders an oracle pulls on after s wins and f failures."""
        found: dict[tuple[int, int], int] = {}
        for tried in range(self.pulls):
            for s in range(tried + 1):
                f = tried - s
                many = found.get((s - 1, f), 0) + found.get((s, f - 1), 0)
                if (many or tried == 0) and self._advantages[s][f] > 0:
                    found[s, f] = many or 1
        return found
