"""Optimal control of known models: over H steps, on average, and to a target."""

from simgap.planning.average_reward import AverageRewardPlan, solve_average_reward
from simgap.planning.connectivity import communicating, communicating_components
from simgap.planning.episodic import (
    EpisodicPlan,
    EpisodicValues,
    optimal_values,
    policy_values,
    solve_episodic,
)
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
    "TravelTimes",
    "all_travel_times",
    "communicating",
    "communicating_components",
    "diameter",
    "optimal_values",
    "policy_values",
    "solve_average_reward",
    "solve_episodic",
    "travel_times",
]
