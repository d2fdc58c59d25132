"""Every bound of the paper as a function of numbers, with its constants.

Bounds take numbers, never models. All of them are for rewards in [0, 1]: the gap of a
class with other rewards is that of the rescaled one, times the range.
"""

from simgap.bounds.applicable import applicable
from simgap.bounds.bound import Bound, Constant, Kind, Quantity
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
from simgap.bounds.extensions import with_model_rewards
from simgap.bounds.facts import ClassFacts
from simgap.bounds.fine_tuning import (
    fine_tuned_gap,
    mean_inverse_posterior,
    posterior_gap,
    posterior_tail,
    rival_weight,
)
from simgap.bounds.gain_and_value import (
    bias_span,
    gap_from_regret,
    value_above,
    value_below,
    value_span,
)
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
    no_diameter,
    switch_tree_lower,
)
from simgap.bounds.nearby import (
    optimal_value_difference,
    policy_value_difference,
    universal_lipschitz,
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
)
from simgap.bounds.upper import (
    Threshold,
    elimination_gap,
    finite_class,
    optimistic_gap,
    optimistic_regret,
    separated_class,
)
from simgap.bounds.vacuity import first_elimination, vacuity_horizon
from simgap.bounds.variance_optimism import (
    variance_gap,
    variance_regret,
    variance_threshold,
)

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
    "Quantity",
    "Radius",
    "Ridge",
    "Switches",
    "Threshold",
    "Travel",
    "TruncatedRatio",
    "applicable",
    "base_policy_transfer",
    "best_arm_lower",
    "bias_span",
    "elimination_gap",
    "error_of_affinity",
    "error_of_separation",
    "fine_tuned_gap",
    "finite_class",
    "first_elimination",
    "fits_from",
    "gap_from_regret",
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
    "mean_inverse_posterior",
    "mean_transfer",
    "most_episodes",
    "neighbourhood_transfer",
    "neighbourhood_transfer_literal",
    "no_diameter",
    "optimal_value_difference",
    "optimistic_gap",
    "optimistic_regret",
    "policy_value_difference",
    "posterior_gap",
    "posterior_tail",
    "rival_weight",
    "sampling_gap",
    "sampling_regret",
    "separated_class",
    "stage_one",
    "switch_tree_lower",
    "universal_lipschitz",
    "vacuity_horizon",
    "value_above",
    "value_below",
    "value_span",
    "variance_gap",
    "variance_regret",
    "variance_threshold",
    "with_model_rewards",
]
