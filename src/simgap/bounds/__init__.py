"""Every bound of the paper as a function of numbers, with its constants.

The functions take numbers, never models, and assume rewards in [0, 1]. For rewards in
another interval the class is rescaled: its gap is that of the rescaled class, times the
width of the interval (`Bound.in_rewards`). Statements and proofs: theory 4.
"""

from simgap.bounds.applicable import applicable
from simgap.bounds.bound import Bound, Kind, Quantity
from simgap.bounds.comparisons import (
    Anytime,
    Bhattacharyya,
    Chernoff,
    ComparisonRule,
    PaperSamples,
    Travel,
    TruncatedRatio,
    error_of_affinity,
    error_of_separation,
    fits_from,
    late_arrival,
    stage_one,
)
from simgap.bounds.facts import ClassFacts
from simgap.bounds.gain_and_value import bias_span, value_span
from simgap.bounds.general import (
    Radius,
    Ridge,
    Switches,
    general_optimistic_gap,
    general_optimistic_regret,
    infinite_class,
)
from simgap.bounds.likelihood_optimism import likelihood_gap, likelihood_regret
from simgap.bounds.lower import (
    best_arm_lower,
    hardest_best_arm_lower,
    large_class,
    lower_bound,
    memoryless_lower,
    no_diameter,
    switch_tree_lower,
    untrained_lower,
)
from simgap.bounds.posterior_sampling import (
    most_episodes,
    sampling_gap,
    sampling_regret,
)
from simgap.bounds.reduction import (
    base_policy_transfer,
    known_base_gap,
    mean_transfer,
    neighbourhood_transfer,
    neighbourhood_transfer_literal,
    posterior_gap,
    universal_lipschitz,
)
from simgap.bounds.upper import (
    ProvedThreshold,
    elimination_gap,
    finite_class,
    optimistic_gap,
    optimistic_regret,
    separated_class,
    with_model_rewards,
)
from simgap.bounds.vacuity import first_elimination, vacuity_horizon
from simgap.bounds.variance_optimism import variance_gap, variance_regret
from simgap.records.bounds import Constant

__all__ = [
    "Anytime",
    "Bhattacharyya",
    "Bound",
    "Chernoff",
    "ClassFacts",
    "ComparisonRule",
    "Constant",
    "Kind",
    "PaperSamples",
    "ProvedThreshold",
    "Quantity",
    "Radius",
    "Ridge",
    "Switches",
    "Travel",
    "TruncatedRatio",
    "applicable",
    "base_policy_transfer",
    "best_arm_lower",
    "bias_span",
    "elimination_gap",
    "error_of_affinity",
    "error_of_separation",
    "finite_class",
    "first_elimination",
    "fits_from",
    "general_optimistic_gap",
    "general_optimistic_regret",
    "hardest_best_arm_lower",
    "infinite_class",
    "known_base_gap",
    "large_class",
    "late_arrival",
    "likelihood_gap",
    "likelihood_regret",
    "lower_bound",
    "mean_transfer",
    "memoryless_lower",
    "most_episodes",
    "neighbourhood_transfer",
    "neighbourhood_transfer_literal",
    "no_diameter",
    "optimistic_gap",
    "optimistic_regret",
    "posterior_gap",
    "sampling_gap",
    "sampling_regret",
    "separated_class",
    "stage_one",
    "switch_tree_lower",
    "universal_lipschitz",
    "untrained_lower",
    "vacuity_horizon",
    "value_span",
    "variance_gap",
    "variance_regret",
    "with_model_rewards",
]
