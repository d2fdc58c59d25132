"""simgap: compute, bound and explain the sim-to-real gap of domain randomization.

Names are resolved when they are first used, so that `import simgap` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simgap.errors import (
        InvalidArgument,
        InvalidFile,
        InvalidInstance,
        InvalidModel,
        NotCommunicating,
        NotSolved,
        SimgapError,
    )
    from simgap.instances.catalogue import build as build_instance
    from simgap.interop import load_model, save_model
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

    __version__: str

__all__ = [
    "Details",
    "IndexOrder",
    "InvalidArgument",
    "InvalidFile",
    "InvalidInstance",
    "InvalidModel",
    "Labels",
    "LatentMDP",
    "NotCommunicating",
    "NotSolved",
    "Parameters",
    "RewardUnits",
    "SimgapError",
    "SimulatorClass",
    "TabularMDP",
    "__version__",
    "all_travel_times",
    "build_instance",
    "class_from_arrays",
    "class_from_edges",
    "class_from_models",
    "class_from_sparse",
    "class_over_grid",
    "communicating",
    "communicating_components",
    "diameter",
    "load_model",
    "mdp_from_arrays",
    "mdp_from_counts",
    "mdp_from_edges",
    "mdp_from_function",
    "mdp_from_sparse",
    "optimal_values",
    "policy_values",
    "save_model",
    "solve_average_reward",
    "solve_episodic",
    "travel_times",
]

_HOMES = {
    "simgap.errors": (
        "InvalidArgument",
        "InvalidFile",
        "InvalidInstance",
        "InvalidModel",
        "NotCommunicating",
        "NotSolved",
        "SimgapError",
    ),
    "simgap.interop": ("load_model", "save_model"),
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
