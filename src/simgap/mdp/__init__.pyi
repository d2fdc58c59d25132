from simgap.mdp.asked_once import (
    asked_once as asked_once,
)
from simgap.mdp.build import (
    PLAIN as PLAIN,
    Details as Details,
    IndexOrder as IndexOrder,
    class_from_arrays as class_from_arrays,
    class_from_edges as class_from_edges,
    class_from_models as class_from_models,
    mdp_from_arrays as mdp_from_arrays,
    mdp_from_counts as mdp_from_counts,
    mdp_from_edges as mdp_from_edges,
    mdp_from_function as mdp_from_function,
)
from simgap.mdp.discretise import (
    Discretisation as Discretisation,
    discretise as discretise,
)
from simgap.mdp.grid_origin import (
    TOO_COARSE as TOO_COARSE,
    GridOrigin as GridOrigin,
    Rounding as Rounding,
    seen_states as seen_states,
)
from simgap.mdp.grid_states import (
    NodeSet as NodeSet,
)
from simgap.mdp.labels import (
    Labels as Labels,
    Parameters as Parameters,
    RewardUnits as RewardUnits,
)
from simgap.mdp.latent import (
    LatentMDP as LatentMDP,
)
from simgap.mdp.model_given import (
    checked_class as checked_class,
    checked_latent as checked_latent,
)
from simgap.mdp.parametric import (
    class_over_grid as class_over_grid,
    name_of as name_of,
)
from simgap.mdp.physics import (
    Moved as Moved,
    OneStepError as OneStepError,
    Physics as Physics,
    Theta as Theta,
)
from simgap.mdp.simulators import (
    SimulatorClass as SimulatorClass,
    content_hash as content_hash,
)
from simgap.mdp.state_grid import (
    Axis as Axis,
    Interpolation as Interpolation,
    StateGrid as StateGrid,
)
from simgap.mdp.tabular import (
    TabularMDP as TabularMDP,
)
from simgap.mdp.transitions import (
    Transitions as Transitions,
)
from simgap.mdp.validation import (
    LEAST_CHANCE as LEAST_CHANCE,
    LEAST_REWARD as LEAST_REWARD,
    ROW_TOLERANCE as ROW_TOLERANCE,
    as_floats as as_floats,
)
