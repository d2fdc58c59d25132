from simgap._kernels.beliefs.belief_episodes import (
    action_costs as action_costs,
)
from simgap._kernels.beliefs.belief_episodes import (
    simulate_belief_policy as simulate_belief_policy,
)
from simgap._kernels.beliefs.belief_points import (
    OVER as OVER,
)
from simgap._kernels.beliefs.belief_points import (
    act_on_mixtures as act_on_mixtures,
)
from simgap._kernels.beliefs.belief_points import (
    act_on_vectors as act_on_vectors,
)
from simgap._kernels.beliefs.belief_points import (
    begin_episodes as begin_episodes,
)
from simgap._kernels.beliefs.belief_points import (
    keep_new as keep_new,
)
from simgap._kernels.beliefs.belief_points import (
    live_one_step as live_one_step,
)
from simgap._kernels.beliefs.belief_tree import (
    FULL as FULL,
)
from simgap._kernels.beliefs.belief_tree import (
    UNKNOWN_SUPPORT as UNKNOWN_SUPPORT,
)
from simgap._kernels.beliefs.belief_tree import (
    UNKNOWN_SWAP as UNKNOWN_SWAP,
)
from simgap._kernels.beliefs.belief_tree import (
    backward as backward,
)
from simgap._kernels.beliefs.belief_tree import (
    expand as expand,
)
from simgap._kernels.beliefs.belief_tree import (
    rehash as rehash,
)
from simgap._kernels.beliefs.belief_tree_gaps import (
    largest_losses as largest_losses,
)
from simgap._kernels.beliefs.belief_tree_gaps import (
    plan_vectors as plan_vectors,
)
from simgap._kernels.beliefs.belief_tree_gaps import (
    reach as reach,
)
from simgap._kernels.beliefs.belief_tree_gaps import (
    settle as settle,
)
from simgap._kernels.beliefs.belief_tree_gaps import (
    tree_ends as tree_ends,
)
from simgap._kernels.beliefs.belief_tree_gaps import (
    tree_vectors as tree_vectors,
)
from simgap._kernels.beliefs.belief_tree_graph import (
    first_steps as first_steps,
)
from simgap._kernels.beliefs.belief_tree_graph import (
    linked_plans as linked_plans,
)
from simgap._kernels.beliefs.belief_tree_graph import (
    tree_rules as tree_rules,
)
from simgap._kernels.beliefs.coupled_copies import (
    carried as carried,
)
from simgap._kernels.beliefs.coupled_copies import (
    couple as couple,
)
from simgap._kernels.beliefs.coupled_copies import (
    couple_backward as couple_backward,
)
from simgap._kernels.beliefs.coupled_copies import (
    places_met as places_met,
)
from simgap._kernels.beliefs.envelope import (
    best_mixture as best_mixture,
)
from simgap._kernels.beliefs.envelope import (
    link_rows as link_rows,
)
from simgap._kernels.beliefs.memoryless import (
    follow_gaps as follow_gaps,
)
from simgap._kernels.beliefs.memoryless import (
    improve_backward as improve_backward,
)
from simgap._kernels.beliefs.memoryless import (
    reach_weights as reach_weights,
)
from simgap._kernels.beliefs.memoryless import (
    stationary_sweep as stationary_sweep,
)
from simgap._kernels.beliefs.memoryless_bound import (
    least_gap as least_gap,
)
from simgap._kernels.beliefs.oracle_lower_side import (
    link_pair_faces as link_pair_faces,
)
from simgap._kernels.beliefs.oracle_lower_side import (
    lower_step as lower_step,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    best_vectors as best_vectors,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    follow_choices as follow_choices,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    link_corners_and_pairs as link_corners_and_pairs,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    link_points as link_points,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    occupancy_step as occupancy_step,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    reach_nodes as reach_nodes,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    upper_step as upper_step,
)
from simgap._kernels.beliefs.policy_graph import (
    graph_backward as graph_backward,
)
from simgap._kernels.beliefs.policy_graph import (
    graph_first_steps as graph_first_steps,
)
from simgap._kernels.beliefs.policy_graph import (
    graph_sweeps as graph_sweeps,
)
from simgap._kernels.beliefs.policy_graph import (
    mark_unknown as mark_unknown,
)
from simgap._kernels.beliefs.policy_graph import (
    most_rules_at_once as most_rules_at_once,
)
from simgap._kernels.beliefs.policy_graph import (
    solve_chain as solve_chain,
)
from simgap._kernels.beliefs.posterior_paths import (
    Rules as Rules,
)
from simgap._kernels.beliefs.posterior_paths import (
    follow_posteriors as follow_posteriors,
)
from simgap._kernels.beliefs.sampling_episodes import (
    simulate_sampling as simulate_sampling,
)
