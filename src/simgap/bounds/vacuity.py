"""From which horizon on Algorithm 3 can eliminate anything at all (theory 4.18).

In an episode of n steps the statistic of model k telescopes to n rho_k minus the
rewards plus a difference of biases. So |stat| <= min(n step_k, n drift_k + sp_k), where

* step_k is the most one step can add, |P_k l_k (s, a) - l_k(s')| over all that can
  happen, at most sp_k;
* drift_k is the most a reward can differ from the gain, max(rho_k - min R, max R -
  rho_k), or what is known to be lost per step when k is played in the real model.

The statistic can pass a threshold c sqrt(n) only if this is below that number. c grows
with H, so the first n at which this is possible grows with H too, and the least H that
is long enough is found without a scan. For a shorter horizon the agent plays the model
of greatest gain whatever happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, log, sqrt

from simgap.arrays import FloatArray
from simgap.bounds.bound import Formula, first_fit
from simgap.bounds.numbers import LONGEST, real, whole, widths
from simgap.bounds.upper import ProvedThreshold
from simgap.errors import InvalidArgument

MOST_ROOT = sqrt(LONGEST)  # of steps


def vacuity_horizon(
    *,
    spans: Sequence[float] | FloatArray,
    drifts: Sequence[float] | FloatArray,
    steps: Sequence[float] | FloatArray | None = None,
    threshold: ProvedThreshold = ProvedThreshold.SHARP,
    diameter: float = inf,
) -> float:
    """Return the least H in which some model can be eliminated; inf if none up to 1e15.

    There is one entry per model; steps are the spans if they are not given, and the
    paper's threshold needs the diameter besides.
    """
    given, moves = widths("spans", spans), widths("drifts", drifts)
    most = given if steps is None else widths("steps", steps)
    if not given.shape == moves.shape == most.shape:
        raise InvalidArgument(
            f"{given.size} spans, {moves.size} drifts and {most.size} steps",
            hint="give one of each per model",
        )

    def need(k: int) -> Formula:
        return lambda h: first_elimination(
            horizon=h,
            span=float(given[k]),
            drift=float(moves[k]),
            step=float(most[k]),
            members=given.size,
            threshold=threshold,
            diameter=diameter,
        )

    return min(first_fit(need(k)) for k in range(given.size))


def first_elimination(
    *,
    horizon: int,
    span: float,
    drift: float,
    members: int,
    step: float | None = None,
    threshold: ProvedThreshold = ProvedThreshold.SHARP,
    diameter: float = inf,
) -> float:
    """Return the least n after which a model can be contradicted, at horizon H.

    It may exceed H: then the model cannot be eliminated in this horizon. Beyond 10^15
    it is infinite.
    """
    span, drift = real("span", span), real("drift", drift)
    step = span if step is None else min(span, real("step", step))
    c = _factor(whole("horizon", horizon), span, members, threshold, diameter)
    if c >= MOST_ROOT * step:  # or the statistic is 0
        return inf
    n = floor((c / step) ** 2) + 1  # from here on n step > c sqrt(n)
    if n * drift + span > c * sqrt(n):
        return n
    if drift == 0.0:
        return inf
    # n drift + span = c sqrt(n) has its greater root beyond n
    root = (c + sqrt(max(0.0, c * c - 4.0 * drift * span))) / (2.0 * drift)
    if root > MOST_ROOT:
        return inf
    return floor(root * root) + 1


def _factor(
    horizon: int, span: float, members: int, threshold: ProvedThreshold, diameter: float
) -> float:
    if threshold is ProvedThreshold.PAPER:
        return real("diameter", diameter) * sqrt(
            2.0 * log(2.0 * horizon * whole("members", members))
        )
    sides = 1.0 if threshold is ProvedThreshold.ONE_SIDED else 2.0
    return span * sqrt(log(sides * float(horizon) ** 2) / 2.0)
