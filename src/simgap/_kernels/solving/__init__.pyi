from simgap._kernels.solving.affinity import (
    least_affinity as least_affinity,
)
from simgap._kernels.solving.average_reward import (
    SOLVED as SOLVED,
    gain_sweeps as gain_sweeps,
    greedy_actions as greedy_actions,
    improvement_sweep as improvement_sweep,
    lower_to_zero as lower_to_zero,
    return_sweeps as return_sweeps,
    wide_gain_sweeps as wide_gain_sweeps,
)
from simgap._kernels.solving.betting import (
    capital_by_part as capital_by_part,
    greatest_capital as greatest_capital,
)
from simgap._kernels.solving.double_double import (
    add_to_wide as add_to_wide,
    minus_wide as minus_wide,
    wide_advantages as wide_advantages,
    wide_sum as wide_sum,
)
from simgap._kernels.solving.eluder import (
    first_fit as first_fit,
    least_harm as least_harm,
)
from simgap._kernels.solving.episodic import (
    action_values as action_values,
    follow_actions as follow_actions,
    follow_mixture as follow_mixture,
    greedy_backward_step as greedy_backward_step,
    greedy_backward_steps as greedy_backward_steps,
    wide_backward_steps as wide_backward_steps,
)
from simgap._kernels.solving.extended_values import (
    Chart as Chart,
    empty_plausible as empty_plausible,
    empty_sheet as empty_sheet,
)
from simgap._kernels.solving.function_pairs import (
    equal_points as equal_points,
    sup_distances as sup_distances,
)
from simgap._kernels.solving.lanes import (
    LANES as LANES,
)
from simgap._kernels.solving.linear_systems import (
    eliminate as eliminate,
    solve_eliminated as solve_eliminated,
    visits_of_eliminated as visits_of_eliminated,
)
from simgap._kernels.solving.losses import (
    backward_losses as backward_losses,
    discounted_values as discounted_values,
)
from simgap._kernels.solving.model_pairs import (
    compare_models as compare_models,
)
from simgap._kernels.solving.reachability import (
    backward_order as backward_order,
    compact_blocks as compact_blocks,
    predecessors as predecessors,
    strong_components as strong_components,
    without_self_loops as without_self_loops,
)
from simgap._kernels.solving.state_lanes import (
    StateLanes as StateLanes,
    backward_steps as backward_steps,
    count_wide_entries as count_wide_entries,
    fill_wide_rewards as fill_wide_rewards,
    fill_wide_rows as fill_wide_rows,
    longest_rows as longest_rows,
)
from simgap._kernels.solving.timed_rules import (
    DONE as DONE,
    PERIOD as PERIOD,
    back_with_rules as back_with_rules,
)
from simgap._kernels.solving.travel import (
    PRUNED as PRUNED,
    SLOW as SLOW,
    greedy_travel_policy as greedy_travel_policy,
    ordered_travel_sweeps as ordered_travel_sweeps,
    wide_travel_sweeps as wide_travel_sweeps,
)
