"""What a simulator is: one MDP, a class U of them, a latent MDP (U, nu)."""

from simgap.mdp.asked_once import asked_once
from simgap.mdp.build import (
    PLAIN,
    Details,
    IndexOrder,
    class_from_arrays,
    class_from_edges,
    class_from_models,
    mdp_from_arrays,
    mdp_from_counts,
    mdp_from_edges,
    mdp_from_function,
)
from simgap.mdp.discretise import Discretisation, discretise
from simgap.mdp.grid_origin import TOO_COARSE, GridOrigin, Rounding, seen_states
from simgap.mdp.grid_states import NodeSet
from simgap.mdp.labels import Labels, Parameters, RewardUnits
from simgap.mdp.latent import LatentMDP
from simgap.mdp.model_given import checked_class, checked_latent
from simgap.mdp.parametric import class_over_grid, name_of
from simgap.mdp.physics import Moved, OneStepError, Physics, Theta
from simgap.mdp.simulators import SimulatorClass, content_hash
from simgap.mdp.state_grid import Axis, Interpolation, StateGrid
from simgap.mdp.tabular import TabularMDP
from simgap.mdp.transitions import Transitions
from simgap.mdp.validation import LEAST_CHANCE, LEAST_REWARD, ROW_TOLERANCE, as_floats

__all__ = [
    "LEAST_CHANCE",
    "LEAST_REWARD",
    "PLAIN",
    "ROW_TOLERANCE",
    "TOO_COARSE",
    "Axis",
    "Details",
    "Discretisation",
    "GridOrigin",
    "IndexOrder",
    "Interpolation",
    "Labels",
    "LatentMDP",
    "Moved",
    "NodeSet",
    "OneStepError",
    "Parameters",
    "Physics",
    "RewardUnits",
    "Rounding",
    "SimulatorClass",
    "StateGrid",
    "TabularMDP",
    "Theta",
    "Transitions",
    "as_floats",
    "asked_once",
    "checked_class",
    "checked_latent",
    "class_from_arrays",
    "class_from_edges",
    "class_from_models",
    "class_over_grid",
    "content_hash",
    "discretise",
    "mdp_from_arrays",
    "mdp_from_counts",
    "mdp_from_edges",
    "mdp_from_function",
    "name_of",
    "seen_states",
]
