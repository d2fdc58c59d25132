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
from simgap.mdp.discretise import Discretisation, discretise
from simgap.mdp.grid_states import NodeSet
from simgap.mdp.labels import Labels, Parameters, RewardUnits
from simgap.mdp.latent import LatentMDP
from simgap.mdp.parametric import class_over_grid
from simgap.mdp.physics import Moved, Physics
from simgap.mdp.rounding import Rounding
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.state_grid import Axis, Interpolation, StateGrid
from simgap.mdp.tabular import TabularMDP
from simgap.mdp.transitions import Transitions

__all__ = [
    "Axis",
    "Details",
    "Discretisation",
    "IndexOrder",
    "Interpolation",
    "Labels",
    "LatentMDP",
    "Moved",
    "NodeSet",
    "Parameters",
    "Physics",
    "RewardUnits",
    "Rounding",
    "SimulatorClass",
    "StateGrid",
    "TabularMDP",
    "Transitions",
    "class_from_arrays",
    "class_from_edges",
    "class_from_models",
    "class_from_sparse",
    "class_over_grid",
    "discretise",
    "mdp_from_arrays",
    "mdp_from_counts",
    "mdp_from_edges",
    "mdp_from_function",
    "mdp_from_sparse",
]
