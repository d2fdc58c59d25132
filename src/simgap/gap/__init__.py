"""The sim-to-real gap and the regret of any policy (Equation 1)."""

from simgap.gap.evaluator import Exact, MonteCarlo
from simgap.gap.exact import elimination_tests, exact_gaps
from simgap.gap.first_passage import EliminationTests, OptimisticGap, first_passage_gap
from simgap.gap.measure import (
    average_certified,
    average_gap,
    gaps,
    regret,
    sim_to_real_gap,
    worst_gap,
    worst_of,
)
from simgap.gap.sampled import (
    SampledGap,
    average_sampled,
    combined,
    measured,
    program_of,
    sampled_gaps,
    worst_sampled,
)

__all__ = [
    "EliminationTests",
    "Exact",
    "MonteCarlo",
    "OptimisticGap",
    "SampledGap",
    "average_certified",
    "average_gap",
    "average_sampled",
    "combined",
    "elimination_tests",
    "exact_gaps",
    "first_passage_gap",
    "gaps",
    "measured",
    "program_of",
    "regret",
    "sampled_gaps",
    "sim_to_real_gap",
    "worst_gap",
    "worst_of",
    "worst_sampled",
]
