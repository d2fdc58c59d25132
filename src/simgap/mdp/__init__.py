"""What a simulator is: one MDP, a class U of them, a latent MDP (U, nu)."""

from simgap.mdp.build import (
    Details,
    IndexOrder,
    class_from_arrays,
    class_from_edges,
    class_from_models,
    class_from_sparse,
    mdp_from_arrays,
    mdp_from_counts,
    mdp_from_edges,
    mdp_from_function,
    mdp_from_sparse,
)
from simgap.mdp.labels import Labels, Parameters, RewardUnits
from simgap.mdp.latent import LatentMDP
from simgap.mdp.parametric import class_over_grid
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.tabular import TabularMDP
from simgap.mdp.transitions import Transitions

__all__ = [
    "Details",
    "IndexOrder",
    "Labels",
    "LatentMDP",
    "Parameters",
    "RewardUnits",
    "SimulatorClass",
    "TabularMDP",
    "Transitions",
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
]
