"""Optimal control of known models: over H steps, on average, and to a target."""

from simgap.planning.average_reward import AverageRewardPlan, solve_average_reward
from simgap.planning.connectivity import (
    as_class,
    communicating,
    communicating_components,
)
from simgap.planning.episodic import (
    EpisodicPlan,
    EpisodicValues,
    check_table_of_values,
    checked_horizon,
    optimal_values,
    policy_values,
    solve_episodic,
    start_defect,
    start_rounding,
    values_with_error,
)
from simgap.planning.lane_blocks import rewards_of
from simgap.planning.one_policy import (
    PolicyGain,
    PolicyValues,
    policy_gain,
    policy_values_by_step,
)
from simgap.planning.policy_chain import first_best
from simgap.planning.relative_values import relative_values
from simgap.planning.travel import (
    AllTravelTimes,
    Diameter,
    TravelTimes,
    all_travel_times,
    diameter,
    travel_times,
)

__all__ = [
    "AllTravelTimes",
    "AverageRewardPlan",
    "Diameter",
    "EpisodicPlan",
    "EpisodicValues",
    "PolicyGain",
    "PolicyValues",
    "TravelTimes",
    "all_travel_times",
    "as_class",
    "check_table_of_values",
    "checked_horizon",
    "communicating",
    "communicating_components",
    "diameter",
    "first_best",
    "optimal_values",
    "policy_gain",
    "policy_values",
    "policy_values_by_step",
    "relative_values",
    "rewards_of",
    "solve_average_reward",
    "solve_episodic",
    "start_defect",
    "start_rounding",
    "travel_times",
    "values_with_error",
]
