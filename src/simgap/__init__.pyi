from simgap.about import __version__ as __version__
from simgap.answers import (
    adapt as adapt,
    audit as audit,
    blame as blame,
    bounds as bounds,
    compare as compare,
    complexity as complexity,
    identify as identify,
    oracle as oracle,
    run as run,
    solve as solve,
    study as study,
    telling_apart as telling_apart,
    width as width,
)
from simgap.base_policies import (
    elimination as elimination,
    explore_then_commit as explore_then_commit,
    general_optimistic as general_optimistic,
    likelihood_optimism as likelihood_optimism,
    optimistic_exploration as optimistic_exploration,
    posterior_sampling as posterior_sampling,
    psrl as psrl,
    ucrl2 as ucrl2,
    ucrl2b as ucrl2b,
    uniformly_random as uniformly_random,
)
from simgap.complexity import (
    covering_number as covering_number,
    eluder_dimension as eluder_dimension,
    function_class as function_class,
    separation as separation,
)
from simgap.errors import (
    InvalidArgument as InvalidArgument,
    InvalidFile as InvalidFile,
    InvalidInstance as InvalidInstance,
    InvalidModel as InvalidModel,
    NotCommunicating as NotCommunicating,
    NotSolved as NotSolved,
    OutsideClass as OutsideClass,
    RandomSimulator as RandomSimulator,
    SimgapError as SimgapError,
)
from simgap.gap import (
    Exact as Exact,
    MonteCarlo as MonteCarlo,
    average_gap as average_gap,
    gaps as gaps,
    regret as regret,
    sim_to_real_gap as sim_to_real_gap,
    worst_gap as worst_gap,
)
from simgap.instances import build_instance as build_instance
from simgap.interop import (
    counts_of_log as counts_of_log,
    load_model as load_model,
    read_transition_log as read_transition_log,
    save_model as save_model,
)
from simgap.mdp import (
    Details as Details,
    IndexOrder as IndexOrder,
    Labels as Labels,
    LatentMDP as LatentMDP,
    Parameters as Parameters,
    RewardUnits as RewardUnits,
    SimulatorClass as SimulatorClass,
    TabularMDP as TabularMDP,
    class_from_arrays as class_from_arrays,
    class_from_edges as class_from_edges,
    class_from_models as class_from_models,
    class_from_sparse as class_from_sparse,
    class_over_grid as class_over_grid,
    mdp_from_arrays as mdp_from_arrays,
    mdp_from_counts as mdp_from_counts,
    mdp_from_edges as mdp_from_edges,
    mdp_from_function as mdp_from_function,
    mdp_from_sparse as mdp_from_sparse,
)
from simgap.oracle import (
    AutoOracle as AutoOracle,
    BoundedOracle as BoundedOracle,
    ExactOracle as ExactOracle,
    GridOracle as GridOracle,
    OracleResult as OracleResult,
    Outcome as Outcome,
    baselines as baselines,
    domain_randomization_oracle as domain_randomization_oracle,
    loss_form as loss_form,
    value_of_memory as value_of_memory,
    value_of_randomization as value_of_randomization,
)
from simgap.planning import (
    all_travel_times as all_travel_times,
    communicating as communicating,
    communicating_components as communicating_components,
    diameter as diameter,
    optimal_values as optimal_values,
    policy_values as policy_values,
    solve_average_reward as solve_average_reward,
    solve_episodic as solve_episodic,
    travel_times as travel_times,
)
from simgap.policies import (
    Agent as Agent,
    BeliefPolicy as BeliefPolicy,
    GraphPolicy as GraphPolicy,
    MarkovPolicy as MarkovPolicy,
    Step as Step,
    load_policy as load_policy,
    run_episode as run_episode,
    save_policy as save_policy,
)
from simgap.simulation import (
    RewardSignal as RewardSignal,
)

__all__: list[str]
