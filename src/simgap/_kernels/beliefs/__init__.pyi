from simgap._kernels.beliefs.belief_episodes import (
    action_costs as action_costs,
    simulate_belief_policy as simulate_belief_policy,
)
from simgap._kernels.beliefs.belief_points import (
    OVER as OVER,
    act_on_mixtures as act_on_mixtures,
    act_on_vectors as act_on_vectors,
    begin_episodes as begin_episodes,
    keep_new as keep_new,
    live_one_step as live_one_step,
)
from simgap._kernels.beliefs.belief_tree import (
    FULL as FULL,
    UNKNOWN_SUPPORT as UNKNOWN_SUPPORT,
    UNKNOWN_SWAP as UNKNOWN_SWAP,
    backward as backward,
    expand as expand,
    rehash as rehash,
)
from simgap._kernels.beliefs.belief_tree_gaps import (
    largest_losses as largest_losses,
    plan_vectors as plan_vectors,
    reach as reach,
    settle as settle,
    tree_ends as tree_ends,
    tree_vectors as tree_vectors,
)
from simgap._kernels.beliefs.belief_tree_graph import (
    first_steps as first_steps,
    linked_plans as linked_plans,
    tree_rules as tree_rules,
)
from simgap._kernels.beliefs.coupled_copies import (
    carried as carried,
    couple as couple,
    couple_backward as couple_backward,
    places_met as places_met,
)
from simgap._kernels.beliefs.envelope import (
    best_mixture as best_mixture,
    link_rows as link_rows,
)
from simgap._kernels.beliefs.memoryless import (
    follow_gaps as follow_gaps,
    improve_backward as improve_backward,
    reach_weights as reach_weights,
    stationary_sweep as stationary_sweep,
)
from simgap._kernels.beliefs.memoryless_bound import (
    least_gap as least_gap,
)
from simgap._kernels.beliefs.oracle_lower_side import (
    link_pair_faces as link_pair_faces,
    lower_step as lower_step,
)
from simgap._kernels.beliefs.oracle_upper_side import (
    best_vectors as best_vectors,
    follow_choices as follow_choices,
    occupancy_step as occupancy_step,
    reach_nodes as reach_nodes,
    upper_step as upper_step,
    upper_steps as upper_steps,
)
from simgap._kernels.beliefs.policy_graph import (
    graph_backward as graph_backward,
    graph_first_steps as graph_first_steps,
    graph_sweeps as graph_sweeps,
    mark_unknown as mark_unknown,
    most_rules_at_once as most_rules_at_once,
    solve_chain as solve_chain,
)
from simgap._kernels.beliefs.policy_graph_links import (
    link_corners_and_pairs as link_corners_and_pairs,
    link_points as link_points,
)
from simgap._kernels.beliefs.posterior_paths import (
    Rules as Rules,
    follow_posteriors as follow_posteriors,
)
from simgap._kernels.beliefs.sampling_episodes import (
    simulate_sampling as simulate_sampling,
)
