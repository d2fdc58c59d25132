"""Names that were at the top level and are imported from their rooms now.

They resolve for one more release, with a warning that names the new home.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from warnings import warn

MOVED = {  # room -> names
    "answers": "telling_apart",
    "base_policies": "elimination explore_then_commit general_optimistic "
    "likelihood_optimism optimistic_exploration posterior_sampling psrl ucrl2 ucrl2b "
    "uniformly_random",
    "complexity": "covering_number eluder_dimension function_class separation",
    "errors": "InvalidArgument InvalidFile InvalidInstance InvalidModel "
    "NotCommunicating NotSolved OutsideClass RandomSimulator",
    "gap": "regret",
    "interop": "counts_of_log",
    "mdp": "Details IndexOrder Labels Parameters RewardUnits class_from_edges "
    "class_from_models class_over_grid mdp_from_arrays "
    "mdp_from_counts mdp_from_edges mdp_from_function",
    "oracle": "AutoOracle BoundedOracle ExactOracle GridOracle OracleResult Outcome "
    "baselines loss_form value_of_memory value_of_randomization",
    "planning": "all_travel_times communicating communicating_components diameter "
    "optimal_values policy_values solve_average_reward solve_episodic "
    "travel_times",
    "policies": "Agent BeliefPolicy GraphPolicy MarkovPolicy Step run_episode",
    "simulation": "RewardSignal",
}


def moved_name(name: str) -> Any:
    """Return what a name of the top level was, and warn that it has moved."""
    for room, names in MOVED.items():
        if name in names.split():
            home = f"simgap.{room}"
            warn(
                f"simgap.{name} has moved: from {home} import {name}",
                DeprecationWarning,
                stacklevel=3,
            )
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'simgap' has no attribute {name!r}")
