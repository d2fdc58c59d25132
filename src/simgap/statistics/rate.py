"""How often something happens: counts have an interval by theorem."""

from __future__ import annotations

from simgap.errors import InvalidArgument
from simgap.intervals import Estimate


def estimated_rate(count: int, runs: int, confidence: float = 0.95) -> Estimate:
    """Return the chance of what happened in `count` of `runs` (Clopper, Pearson 1934).

    The interval holds at the confidence for every chance and every number of runs.
    """
    from scipy.special import betaincinv

    if not 0 <= count <= runs or runs < 1:
        raise InvalidArgument(f"{count} times in {runs} runs", hint="0 <= k <= n")
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if count == 0 else float(betaincinv(count, runs - count + 1, tail))
    high = 1.0
    if count < runs:
        high = float(betaincinv(count + 1, runs - count, 1.0 - tail))
    how = f"Clopper-Pearson, {runs} runs"
    return Estimate.proved(count / runs, low, high, confidence, how)
