from simgap.mdp.build import (
    PLAIN as PLAIN,
)
from simgap.mdp.build import (
    Details as Details,
)
from simgap.mdp.build import (
    IndexOrder as IndexOrder,
)
from simgap.mdp.build import (
    class_from_arrays as class_from_arrays,
)
from simgap.mdp.build import (
    class_from_edges as class_from_edges,
)
from simgap.mdp.build import (
    class_from_models as class_from_models,
)
from simgap.mdp.build import (
    class_from_sparse as class_from_sparse,
)
from simgap.mdp.build import (
    mdp_from_arrays as mdp_from_arrays,
)
from simgap.mdp.build import (
    mdp_from_counts as mdp_from_counts,
)
from simgap.mdp.build import (
    mdp_from_edges as mdp_from_edges,
)
from simgap.mdp.build import (
    mdp_from_function as mdp_from_function,
)
from simgap.mdp.build import (
    mdp_from_sparse as mdp_from_sparse,
)
from simgap.mdp.discretise import (
    Discretisation as Discretisation,
)
from simgap.mdp.discretise import (
    discretise as discretise,
)
from simgap.mdp.discretise import (
    on_grid as on_grid,
)
from simgap.mdp.grid_origin import (
    TOO_COARSE as TOO_COARSE,
)
from simgap.mdp.grid_origin import (
    GridOrigin as GridOrigin,
)
from simgap.mdp.grid_states import (
    NodeSet as NodeSet,
)
from simgap.mdp.labels import (
    Labels as Labels,
)
from simgap.mdp.labels import (
    Parameters as Parameters,
)
from simgap.mdp.labels import (
    RewardUnits as RewardUnits,
)
from simgap.mdp.latent import (
    LatentMDP as LatentMDP,
)
from simgap.mdp.model_given import (
    checked_class as checked_class,
)
from simgap.mdp.model_given import (
    checked_latent as checked_latent,
)
from simgap.mdp.node_table import (
    MOST_NUMBERS as MOST_NUMBERS,
)
from simgap.mdp.one_step import (
    OneStepError as OneStepError,
)
from simgap.mdp.parametric import (
    class_over_grid as class_over_grid,
)
from simgap.mdp.parametric import (
    name_of as name_of,
)
from simgap.mdp.physics import (
    Moved as Moved,
)
from simgap.mdp.physics import (
    Physics as Physics,
)
from simgap.mdp.physics import (
    Theta as Theta,
)
from simgap.mdp.rounding import (
    Rounding as Rounding,
)
from simgap.mdp.rounding import (
    seen_states as seen_states,
)
from simgap.mdp.simulators import (
    SimulatorClass as SimulatorClass,
)
from simgap.mdp.simulators import (
    content_hash as content_hash,
)
from simgap.mdp.state_grid import (
    Axis as Axis,
)
from simgap.mdp.state_grid import (
    Interpolation as Interpolation,
)
from simgap.mdp.state_grid import (
    StateGrid as StateGrid,
)
from simgap.mdp.tabular import (
    TabularMDP as TabularMDP,
)
from simgap.mdp.transitions import (
    Transitions as Transitions,
)
from simgap.mdp.validation import (
    ROW_TOLERANCE as ROW_TOLERANCE,
)
from simgap.mdp.validation import (
    as_floats as as_floats,
)
