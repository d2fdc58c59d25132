from simgap.about import __version__ as __version__
from simgap.answers import (
    adapt as adapt,
)
from simgap.answers import (
    audit as audit,
)
from simgap.answers import (
    blame as blame,
)
from simgap.answers import (
    identify as identify,
)
from simgap.answers import (
    refine as refine,
)
from simgap.answers import (
    telling_apart as telling_apart,
)
from simgap.answers import (
    width_curve as width_curve,
)
from simgap.base_policies import (
    elimination as elimination,
)
from simgap.base_policies import (
    explore_then_commit as explore_then_commit,
)
from simgap.base_policies import (
    general_optimistic as general_optimistic,
)
from simgap.base_policies import (
    likelihood_optimism as likelihood_optimism,
)
from simgap.base_policies import (
    optimistic_exploration as optimistic_exploration,
)
from simgap.base_policies import (
    posterior_sampling as posterior_sampling,
)
from simgap.base_policies import (
    psrl as psrl,
)
from simgap.base_policies import (
    ucrl2 as ucrl2,
)
from simgap.base_policies import (
    ucrl2b as ucrl2b,
)
from simgap.base_policies import (
    uniformly_random as uniformly_random,
)
from simgap.complexity import (
    covering_number as covering_number,
)
from simgap.complexity import (
    eluder_dimension as eluder_dimension,
)
from simgap.complexity import (
    function_class as function_class,
)
from simgap.complexity import (
    separation as separation,
)
from simgap.errors import (
    InvalidArgument as InvalidArgument,
)
from simgap.errors import (
    InvalidFile as InvalidFile,
)
from simgap.errors import (
    InvalidInstance as InvalidInstance,
)
from simgap.errors import (
    InvalidModel as InvalidModel,
)
from simgap.errors import (
    NotCommunicating as NotCommunicating,
)
from simgap.errors import (
    NotSolved as NotSolved,
)
from simgap.errors import (
    OutsideClass as OutsideClass,
)
from simgap.errors import (
    RandomSimulator as RandomSimulator,
)
from simgap.errors import (
    SimgapError as SimgapError,
)
from simgap.gap import (
    Exact as Exact,
)
from simgap.gap import (
    MonteCarlo as MonteCarlo,
)
from simgap.gap import (
    average_gap as average_gap,
)
from simgap.gap import (
    gaps as gaps,
)
from simgap.gap import (
    regret as regret,
)
from simgap.gap import (
    sim_to_real_gap as sim_to_real_gap,
)
from simgap.gap import (
    worst_gap as worst_gap,
)
from simgap.instances import build_instance as build_instance
from simgap.interop import (
    counts_of_log as counts_of_log,
)
from simgap.interop import (
    load_model as load_model,
)
from simgap.interop import (
    read_transition_log as read_transition_log,
)
from simgap.interop import (
    save_model as save_model,
)
from simgap.mdp import (
    Details as Details,
)
from simgap.mdp import (
    IndexOrder as IndexOrder,
)
from simgap.mdp import (
    Labels as Labels,
)
from simgap.mdp import (
    LatentMDP as LatentMDP,
)
from simgap.mdp import (
    Parameters as Parameters,
)
from simgap.mdp import (
    RewardUnits as RewardUnits,
)
from simgap.mdp import (
    SimulatorClass as SimulatorClass,
)
from simgap.mdp import (
    TabularMDP as TabularMDP,
)
from simgap.mdp import (
    class_from_arrays as class_from_arrays,
)
from simgap.mdp import (
    class_from_edges as class_from_edges,
)
from simgap.mdp import (
    class_from_models as class_from_models,
)
from simgap.mdp import (
    class_from_sparse as class_from_sparse,
)
from simgap.mdp import (
    class_over_grid as class_over_grid,
)
from simgap.mdp import (
    mdp_from_arrays as mdp_from_arrays,
)
from simgap.mdp import (
    mdp_from_counts as mdp_from_counts,
)
from simgap.mdp import (
    mdp_from_edges as mdp_from_edges,
)
from simgap.mdp import (
    mdp_from_function as mdp_from_function,
)
from simgap.mdp import (
    mdp_from_sparse as mdp_from_sparse,
)
from simgap.oracle import (
    AutoOracle as AutoOracle,
)
from simgap.oracle import (
    BoundedOracle as BoundedOracle,
)
from simgap.oracle import (
    ExactOracle as ExactOracle,
)
from simgap.oracle import (
    GridOracle as GridOracle,
)
from simgap.oracle import (
    OracleResult as OracleResult,
)
from simgap.oracle import (
    Outcome as Outcome,
)
from simgap.oracle import (
    baselines as baselines,
)
from simgap.oracle import (
    domain_randomization_oracle as domain_randomization_oracle,
)
from simgap.oracle import (
    loss_form as loss_form,
)
from simgap.oracle import (
    value_of_memory as value_of_memory,
)
from simgap.oracle import (
    value_of_randomization as value_of_randomization,
)
from simgap.planning import (
    all_travel_times as all_travel_times,
)
from simgap.planning import (
    communicating as communicating,
)
from simgap.planning import (
    communicating_components as communicating_components,
)
from simgap.planning import (
    diameter as diameter,
)
from simgap.planning import (
    optimal_values as optimal_values,
)
from simgap.planning import (
    policy_values as policy_values,
)
from simgap.planning import (
    solve_average_reward as solve_average_reward,
)
from simgap.planning import (
    solve_episodic as solve_episodic,
)
from simgap.planning import (
    travel_times as travel_times,
)
from simgap.policies import (
    Agent as Agent,
)
from simgap.policies import (
    BeliefPolicy as BeliefPolicy,
)
from simgap.policies import (
    GraphPolicy as GraphPolicy,
)
from simgap.policies import (
    MarkovPolicy as MarkovPolicy,
)
from simgap.policies import (
    Step as Step,
)
from simgap.policies import (
    load_policy as load_policy,
)
from simgap.policies import (
    run_episode as run_episode,
)
from simgap.policies import (
    save_policy as save_policy,
)
from simgap.simulation import (
    RewardSignal as RewardSignal,
)

__all__: list[str]
