"""simgap: compute, bound and explain the sim-to-real gap of domain randomization.

Names are resolved when they are first used, so that `import simgap` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simgap.answers import (
        adapt,
        audit,
        blame,
        identify,
        refine,
        telling_apart,
        width_curve,
    )
    from simgap.base_policies import (
        elimination,
        explore_then_commit,
        general_optimistic,
        likelihood_optimism,
        optimistic_exploration,
        posterior_sampling,
        psrl,
        ucrl2,
        ucrl2b,
        uniformly_random,
    )
    from simgap.complexity import (
        covering_number,
        eluder_dimension,
        function_class,
        separation,
    )
    from simgap.errors import (
        InvalidArgument,
        InvalidFile,
        InvalidInstance,
        InvalidModel,
        NotCommunicating,
        NotSolved,
        OutsideClass,
        RandomSimulator,
        SimgapError,
    )
    from simgap.gap import (
        Exact,
        MonteCarlo,
        average_gap,
        gaps,
        regret,
        sim_to_real_gap,
        worst_gap,
    )
    from simgap.instances.catalogue import build as build_instance
    from simgap.interop import (
        counts_of_log,
        load_model,
        read_transition_log,
        save_model,
    )
    from simgap.mdp import (
        Details,
        IndexOrder,
        Labels,
        LatentMDP,
        Parameters,
        RewardUnits,
        SimulatorClass,
        TabularMDP,
        class_from_arrays,
        class_from_edges,
        class_from_models,
        class_from_sparse,
        class_over_grid,
        mdp_from_arrays,
        mdp_from_counts,
        mdp_from_edges,
        mdp_from_function,
        mdp_from_sparse,
    )
    from simgap.oracle import (
        AutoOracle,
        BoundedOracle,
        ExactOracle,
        GridOracle,
        OracleResult,
        Outcome,
        baselines,
        domain_randomization_oracle,
        loss_form,
        value_of_memory,
        value_of_randomization,
    )
    from simgap.planning import (
        all_travel_times,
        communicating,
        communicating_components,
        diameter,
        optimal_values,
        policy_values,
        solve_average_reward,
        solve_episodic,
        travel_times,
    )
    from simgap.policies import (
        Agent,
        BeliefPolicy,
        GraphPolicy,
        MarkovPolicy,
        Step,
        load_policy,
        run_episode,
        save_policy,
    )
    from simgap.simulation import RewardSignal

    __version__: str

__all__ = [
    "Agent",
    "AutoOracle",
    "BeliefPolicy",
    "BoundedOracle",
    "Details",
    "Exact",
    "ExactOracle",
    "GraphPolicy",
    "GridOracle",
    "IndexOrder",
    "InvalidArgument",
    "InvalidFile",
    "InvalidInstance",
    "InvalidModel",
    "Labels",
    "LatentMDP",
    "MarkovPolicy",
    "MonteCarlo",
    "NotCommunicating",
    "NotSolved",
    "OracleResult",
    "Outcome",
    "OutsideClass",
    "Parameters",
    "RandomSimulator",
    "RewardSignal",
    "RewardUnits",
    "SimgapError",
    "SimulatorClass",
    "Step",
    "TabularMDP",
    "__version__",
    "adapt",
    "all_travel_times",
    "audit",
    "average_gap",
    "baselines",
    "blame",
    "build_instance",
    "class_from_arrays",
    "class_from_edges",
    "class_from_models",
    "class_from_sparse",
    "class_over_grid",
    "communicating",
    "communicating_components",
    "counts_of_log",
    "covering_number",
    "diameter",
    "domain_randomization_oracle",
    "elimination",
    "eluder_dimension",
    "explore_then_commit",
    "function_class",
    "gaps",
    "general_optimistic",
    "identify",
    "likelihood_optimism",
    "load_model",
    "load_policy",
    "loss_form",
    "mdp_from_arrays",
    "mdp_from_counts",
    "mdp_from_edges",
    "mdp_from_function",
    "mdp_from_sparse",
    "optimal_values",
    "optimistic_exploration",
    "policy_values",
    "posterior_sampling",
    "psrl",
    "read_transition_log",
    "refine",
    "regret",
    "run_episode",
    "save_model",
    "save_policy",
    "separation",
    "sim_to_real_gap",
    "solve_average_reward",
    "solve_episodic",
    "telling_apart",
    "travel_times",
    "ucrl2",
    "ucrl2b",
    "uniformly_random",
    "value_of_memory",
    "value_of_randomization",
    "width_curve",
    "worst_gap",
]

_HOMES = {
    "simgap.answers": (
        "adapt",
        "audit",
        "blame",
        "identify",
        "refine",
        "telling_apart",
        "width_curve",
    ),
    "simgap.base_policies": (
        "elimination",
        "explore_then_commit",
        "general_optimistic",
        "likelihood_optimism",
        "optimistic_exploration",
        "posterior_sampling",
        "psrl",
        "ucrl2",
        "ucrl2b",
        "uniformly_random",
    ),
    "simgap.complexity": (
        "covering_number",
        "eluder_dimension",
        "function_class",
        "separation",
    ),
    "simgap.errors": (
        "InvalidArgument",
        "InvalidFile",
        "InvalidInstance",
        "InvalidModel",
        "NotCommunicating",
        "NotSolved",
        "OutsideClass",
        "RandomSimulator",
        "SimgapError",
    ),
    "simgap.gap": (
        "Exact",
        "MonteCarlo",
        "average_gap",
        "gaps",
        "regret",
        "sim_to_real_gap",
        "worst_gap",
    ),
    "simgap.interop": (
        "counts_of_log",
        "load_model",
        "read_transition_log",
        "save_model",
    ),
    "simgap.mdp": (
        "Details",
        "IndexOrder",
        "Labels",
        "LatentMDP",
        "Parameters",
        "RewardUnits",
        "SimulatorClass",
        "TabularMDP",
        "class_from_arrays",
        "class_from_edges",
        "class_from_models",
        "class_from_sparse",
        "class_over_grid",
        "mdp_from_arrays",
        "mdp_from_counts",
        "mdp_from_edges",
        "mdp_from_function",
        "mdp_from_sparse",
    ),
    "simgap.oracle": (
        "AutoOracle",
        "BoundedOracle",
        "ExactOracle",
        "GridOracle",
        "OracleResult",
        "Outcome",
        "baselines",
        "domain_randomization_oracle",
        "loss_form",
        "value_of_memory",
        "value_of_randomization",
    ),
    "simgap.planning": (
        "all_travel_times",
        "communicating",
        "communicating_components",
        "diameter",
        "optimal_values",
        "policy_values",
        "solve_average_reward",
        "solve_episodic",
        "travel_times",
    ),
    "simgap.simulation": ("RewardSignal",),
    "simgap.policies": (
        "Agent",
        "BeliefPolicy",
        "GraphPolicy",
        "MarkovPolicy",
        "Step",
        "load_policy",
        "run_episode",
        "save_policy",
    ),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("simgap")
    if name == "build_instance":
        return import_module("simgap.instances.catalogue").build
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'simgap' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
