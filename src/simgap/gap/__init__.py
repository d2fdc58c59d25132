"""The sim-to-real gap and the regret of any policy (Equation 1)."""

from simgap.gap.evaluator import Exact, MonteCarlo
from simgap.gap.measure import (
    average_gap,
    gaps,
    regret,
    sim_to_real_gap,
    worst_gap,
)

__all__ = [
    "Exact",
    "MonteCarlo",
    "average_gap",
    "gaps",
    "regret",
    "sim_to_real_gap",
    "worst_gap",
]
