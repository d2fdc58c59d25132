from simgap.bounds.applicable import (
    applicable as applicable,
)
from simgap.bounds.bound import (
    Bound as Bound,
)
from simgap.bounds.bound import (
    Constant as Constant,
)
from simgap.bounds.bound import (
    Kind as Kind,
)
from simgap.bounds.bound import (
    Quantity as Quantity,
)
from simgap.bounds.comparisons import (
    Anytime as Anytime,
)
from simgap.bounds.comparisons import (
    Bhattacharyya as Bhattacharyya,
)
from simgap.bounds.comparisons import (
    Chernoff as Chernoff,
)
from simgap.bounds.comparisons import (
    ComparisonRule as ComparisonRule,
)
from simgap.bounds.comparisons import (
    PaperSamples as PaperSamples,
)
from simgap.bounds.comparisons import (
    Travel as Travel,
)
from simgap.bounds.comparisons import (
    TruncatedRatio as TruncatedRatio,
)
from simgap.bounds.comparisons import (
    error_of_affinity as error_of_affinity,
)
from simgap.bounds.comparisons import (
    error_of_separation as error_of_separation,
)
from simgap.bounds.comparisons import (
    fits_from as fits_from,
)
from simgap.bounds.comparisons import (
    late_arrival as late_arrival,
)
from simgap.bounds.comparisons import (
    stage_one as stage_one,
)
from simgap.bounds.extensions import (
    with_model_rewards as with_model_rewards,
)
from simgap.bounds.facts import (
    ClassFacts as ClassFacts,
)
from simgap.bounds.fine_tuning import (
    fine_tuned_gap as fine_tuned_gap,
)
from simgap.bounds.fine_tuning import (
    mean_inverse_posterior as mean_inverse_posterior,
)
from simgap.bounds.fine_tuning import (
    posterior_gap as posterior_gap,
)
from simgap.bounds.fine_tuning import (
    posterior_tail as posterior_tail,
)
from simgap.bounds.fine_tuning import (
    rival_weight as rival_weight,
)
from simgap.bounds.gain_and_value import (
    bias_span as bias_span,
)
from simgap.bounds.gain_and_value import (
    gap_from_regret as gap_from_regret,
)
from simgap.bounds.gain_and_value import (
    value_above as value_above,
)
from simgap.bounds.gain_and_value import (
    value_below as value_below,
)
from simgap.bounds.gain_and_value import (
    value_span as value_span,
)
from simgap.bounds.general import (
    Radius as Radius,
)
from simgap.bounds.general import (
    Ridge as Ridge,
)
from simgap.bounds.general import (
    Switches as Switches,
)
from simgap.bounds.general import (
    general_optimistic_gap as general_optimistic_gap,
)
from simgap.bounds.general import (
    general_optimistic_regret as general_optimistic_regret,
)
from simgap.bounds.general import (
    infinite_class as infinite_class,
)
from simgap.bounds.likelihood_optimism import (
    likelihood_gap as likelihood_gap,
)
from simgap.bounds.likelihood_optimism import (
    likelihood_regret as likelihood_regret,
)
from simgap.bounds.lower import (
    best_arm_lower as best_arm_lower,
)
from simgap.bounds.lower import (
    hardest_best_arm_lower as hardest_best_arm_lower,
)
from simgap.bounds.lower import (
    large_class as large_class,
)
from simgap.bounds.lower import (
    lower_bound as lower_bound,
)
from simgap.bounds.lower import (
    no_diameter as no_diameter,
)
from simgap.bounds.lower import (
    switch_tree_lower as switch_tree_lower,
)
from simgap.bounds.nearby import (
    optimal_value_difference as optimal_value_difference,
)
from simgap.bounds.nearby import (
    policy_value_difference as policy_value_difference,
)
from simgap.bounds.nearby import (
    universal_lipschitz as universal_lipschitz,
)
from simgap.bounds.posterior_sampling import (
    most_episodes as most_episodes,
)
from simgap.bounds.posterior_sampling import (
    sampling_gap as sampling_gap,
)
from simgap.bounds.posterior_sampling import (
    sampling_regret as sampling_regret,
)
from simgap.bounds.reduction import (
    base_policy_transfer as base_policy_transfer,
)
from simgap.bounds.reduction import (
    known_base_gap as known_base_gap,
)
from simgap.bounds.reduction import (
    mean_transfer as mean_transfer,
)
from simgap.bounds.reduction import (
    neighbourhood_transfer as neighbourhood_transfer,
)
from simgap.bounds.reduction import (
    neighbourhood_transfer_literal as neighbourhood_transfer_literal,
)
from simgap.bounds.upper import (
    Threshold as Threshold,
)
from simgap.bounds.upper import (
    elimination_gap as elimination_gap,
)
from simgap.bounds.upper import (
    finite_class as finite_class,
)
from simgap.bounds.upper import (
    optimistic_gap as optimistic_gap,
)
from simgap.bounds.upper import (
    optimistic_regret as optimistic_regret,
)
from simgap.bounds.upper import (
    separated_class as separated_class,
)
from simgap.bounds.vacuity import (
    first_elimination as first_elimination,
)
from simgap.bounds.vacuity import (
    vacuity_horizon as vacuity_horizon,
)
from simgap.bounds.variance_optimism import (
    variance_gap as variance_gap,
)
from simgap.bounds.variance_optimism import (
    variance_regret as variance_regret,
)
from simgap.bounds.variance_optimism import (
    variance_threshold as variance_threshold,
)
