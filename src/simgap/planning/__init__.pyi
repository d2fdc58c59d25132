from simgap.planning.average_reward import (
    AverageRewardPlan as AverageRewardPlan,
    solve_average_reward as solve_average_reward,
)
from simgap.planning.connectivity import (
    as_class as as_class,
    communicating as communicating,
    communicating_components as communicating_components,
)
from simgap.planning.episodic import (
    EpisodicPlan as EpisodicPlan,
    EpisodicValues as EpisodicValues,
    check_table_of_values as check_table_of_values,
    checked_horizon as checked_horizon,
    optimal_values as optimal_values,
    policy_values as policy_values,
    solve_episodic as solve_episodic,
    start_defect as start_defect,
    start_rounding as start_rounding,
    values_with_error as values_with_error,
)
from simgap.planning.lane_blocks import (
    rewards_of as rewards_of,
)
from simgap.planning.policy_chain import (
    first_best as first_best,
)
from simgap.planning.relative_values import (
    relative_values as relative_values,
)
from simgap.planning.travel import (
    AllTravelTimes as AllTravelTimes,
    Diameter as Diameter,
    TravelTimes as TravelTimes,
    all_travel_times as all_travel_times,
    diameter as diameter,
    travel_times as travel_times,
)
