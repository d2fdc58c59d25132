from simgap.bounds.applicable import (
    applicable as applicable,
)
from simgap.bounds.bound import (
    Bound as Bound,
    Kind as Kind,
    Quantity as Quantity,
)
from simgap.bounds.comparisons import (
    Anytime as Anytime,
    Bhattacharyya as Bhattacharyya,
    Chernoff as Chernoff,
    ComparisonRule as ComparisonRule,
    PaperSamples as PaperSamples,
    Travel as Travel,
    TruncatedRatio as TruncatedRatio,
    error_of_affinity as error_of_affinity,
    error_of_separation as error_of_separation,
    fits_from as fits_from,
    late_arrival as late_arrival,
    stage_one as stage_one,
)
from simgap.bounds.facts import (
    ClassFacts as ClassFacts,
)
from simgap.bounds.gain_and_value import (
    bias_span as bias_span,
    value_span as value_span,
)
from simgap.bounds.general import (
    Radius as Radius,
    Ridge as Ridge,
    Switches as Switches,
    general_optimistic_gap as general_optimistic_gap,
    general_optimistic_regret as general_optimistic_regret,
    infinite_class as infinite_class,
)
from simgap.bounds.likelihood_optimism import (
    likelihood_gap as likelihood_gap,
    likelihood_regret as likelihood_regret,
)
from simgap.bounds.lower import (
    best_arm_lower as best_arm_lower,
    hardest_best_arm_lower as hardest_best_arm_lower,
    large_class as large_class,
    lower_bound as lower_bound,
    no_diameter as no_diameter,
    switch_tree_lower as switch_tree_lower,
)
from simgap.bounds.posterior_sampling import (
    most_episodes as most_episodes,
    sampling_gap as sampling_gap,
    sampling_regret as sampling_regret,
)
from simgap.bounds.reduction import (
    base_policy_transfer as base_policy_transfer,
    known_base_gap as known_base_gap,
    mean_transfer as mean_transfer,
    neighbourhood_transfer as neighbourhood_transfer,
    neighbourhood_transfer_literal as neighbourhood_transfer_literal,
    posterior_gap as posterior_gap,
    universal_lipschitz as universal_lipschitz,
)
from simgap.bounds.upper import (
    ProvedThreshold as ProvedThreshold,
    elimination_gap as elimination_gap,
    finite_class as finite_class,
    optimistic_gap as optimistic_gap,
    optimistic_regret as optimistic_regret,
    separated_class as separated_class,
    with_model_rewards as with_model_rewards,
)
from simgap.bounds.vacuity import (
    first_elimination as first_elimination,
    vacuity_horizon as vacuity_horizon,
)
from simgap.bounds.variance_optimism import (
    variance_gap as variance_gap,
    variance_regret as variance_regret,
)
from simgap.records import Constant as Constant
