from simgap._kernels.solving.affinity import (
    least_affinity as least_affinity,
)
from simgap._kernels.solving.average_reward import (
    SOLVED as SOLVED,
)
from simgap._kernels.solving.average_reward import (
    gain_sweeps as gain_sweeps,
)
from simgap._kernels.solving.average_reward import (
    greedy_actions as greedy_actions,
)
from simgap._kernels.solving.average_reward import (
    improvement_sweep as improvement_sweep,
)
from simgap._kernels.solving.average_reward import (
    return_sweeps as return_sweeps,
)
from simgap._kernels.solving.average_reward import (
    wide_gain_sweeps as wide_gain_sweeps,
)
from simgap._kernels.solving.double_double import (
    add_to_wide as add_to_wide,
)
from simgap._kernels.solving.double_double import (
    minus_wide as minus_wide,
)
from simgap._kernels.solving.double_double import (
    wide_advantages as wide_advantages,
)
from simgap._kernels.solving.double_double import (
    wide_sum as wide_sum,
)
from simgap._kernels.solving.eluder import (
    first_fit as first_fit,
)
from simgap._kernels.solving.eluder import (
    least_harm as least_harm,
)
from simgap._kernels.solving.episodic import (
    action_values as action_values,
)
from simgap._kernels.solving.episodic import (
    backward_steps as backward_steps,
)
from simgap._kernels.solving.episodic import (
    follow_actions as follow_actions,
)
from simgap._kernels.solving.episodic import (
    follow_mixture as follow_mixture,
)
from simgap._kernels.solving.episodic import (
    greedy_backward_step as greedy_backward_step,
)
from simgap._kernels.solving.episodic import (
    wide_backward_steps as wide_backward_steps,
)
from simgap._kernels.solving.extended_values import (
    Chart as Chart,
)
from simgap._kernels.solving.extended_values import (
    empty_plausible as empty_plausible,
)
from simgap._kernels.solving.extended_values import (
    empty_sheet as empty_sheet,
)
from simgap._kernels.solving.function_pairs import (
    equal_points as equal_points,
)
from simgap._kernels.solving.function_pairs import (
    sup_distances as sup_distances,
)
from simgap._kernels.solving.lanes import (
    LANES as LANES,
)
from simgap._kernels.solving.linear_systems import (
    eliminate as eliminate,
)
from simgap._kernels.solving.linear_systems import (
    solve_eliminated as solve_eliminated,
)
from simgap._kernels.solving.linear_systems import (
    visits_of_eliminated as visits_of_eliminated,
)
from simgap._kernels.solving.losses import (
    discounted_values as discounted_values,
)
from simgap._kernels.solving.losses import (
    fill_losses as fill_losses,
)
from simgap._kernels.solving.model_pairs import (
    compare_models as compare_models,
)
from simgap._kernels.solving.reachability import (
    backward_order as backward_order,
)
from simgap._kernels.solving.reachability import (
    compact_blocks as compact_blocks,
)
from simgap._kernels.solving.reachability import (
    predecessors as predecessors,
)
from simgap._kernels.solving.reachability import (
    strong_components as strong_components,
)
from simgap._kernels.solving.reachability import (
    without_self_loops as without_self_loops,
)
from simgap._kernels.solving.timed_rules import (
    DONE as DONE,
)
from simgap._kernels.solving.timed_rules import (
    PERIOD as PERIOD,
)
from simgap._kernels.solving.timed_rules import (
    back_with_rules as back_with_rules,
)
from simgap._kernels.solving.timed_rules import (
    stored_left as stored_left,
)
from simgap._kernels.solving.travel import (
    PRUNED as PRUNED,
)
from simgap._kernels.solving.travel import (
    SLOW as SLOW,
)
from simgap._kernels.solving.travel import (
    greedy_travel_policy as greedy_travel_policy,
)
from simgap._kernels.solving.travel import (
    ordered_travel_sweeps as ordered_travel_sweeps,
)
from simgap._kernels.solving.travel import (
    wide_travel_sweeps as wide_travel_sweeps,
)
