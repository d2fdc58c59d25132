"""What several trainings of one kind say together."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from simgap.arrays import FloatArray
from simgap.intervals import Estimate
from simgap.records import Note, TrainedPolicy

ENOUGH_SEEDS = 5


def over_seeds(
    returns: Sequence[float], alone: FloatArray, what: str, confidence: float = 0.95
) -> Estimate:
    """Return the mean over seeds with its t interval.

    Of one seed the interval is over other numbers, `alone`, and `what` they are.
    """
    from scipy.special import stdtrit

    numbers, method = np.array(returns), f"t interval, {len(returns)} seeds"
    if numbers.size == 1:
        numbers, method = alone[np.isfinite(alone)], f"one seed, over {what}"
    mean = float(np.mean(returns))
    error = float(numbers.std(ddof=1)) / sqrt(numbers.size) if numbers.size > 1 else 0.0
    reach = float(stdtrit(max(1, numbers.size - 1), 0.5 + confidence / 2.0)) * error
    return Estimate(mean, mean - reach, mean + reach, confidence, method, error)


def notes_on_seeds(policies: Sequence[TrainedPolicy]) -> tuple[Note, ...]:
    """Return remarks: too few seeds, and those that did not converge."""
    found = []
    if len(policies) < ENOUGH_SEEDS:
        found.append(
            Note(
                "few-seeds",
                f"seeds: {len(policies)}; trainings differ, and an interval over fewer "
                f"than {ENOUGH_SEEDS} seeds is not trustworthy",
            )
        )
    found += [
        Note("not-converged", f"seed {each.seed}: {each.outcome}")
        for each in policies
        if each.converged is False
    ]
    return tuple(found)
