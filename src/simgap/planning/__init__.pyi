from simgap.planning.average_reward import (
    AverageRewardPlan as AverageRewardPlan,
)
from simgap.planning.average_reward import (
    solve_average_reward as solve_average_reward,
)
from simgap.planning.connectivity import (
    as_class as as_class,
)
from simgap.planning.connectivity import (
    communicating as communicating,
)
from simgap.planning.connectivity import (
    communicating_components as communicating_components,
)
from simgap.planning.episodic import (
    EpisodicPlan as EpisodicPlan,
)
from simgap.planning.episodic import (
    EpisodicValues as EpisodicValues,
)
from simgap.planning.episodic import (
    checked_horizon as checked_horizon,
)
from simgap.planning.episodic import (
    optimal_values as optimal_values,
)
from simgap.planning.episodic import (
    policy_values as policy_values,
)
from simgap.planning.episodic import (
    solve_episodic as solve_episodic,
)
from simgap.planning.episodic import (
    start_defect as start_defect,
)
from simgap.planning.episodic import (
    start_rounding as start_rounding,
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
)
from simgap.planning.travel import (
    Diameter as Diameter,
)
from simgap.planning.travel import (
    TravelTimes as TravelTimes,
)
from simgap.planning.travel import (
    all_travel_times as all_travel_times,
)
from simgap.planning.travel import (
    diameter as diameter,
)
from simgap.planning.travel import (
    travel_times as travel_times,
)
