from simgap.complexity.covering import (
    CoveringNumber as CoveringNumber,
)
from simgap.complexity.covering import (
    covering_number as covering_number,
)
from simgap.complexity.covering import (
    linear_covering_bound as linear_covering_bound,
)
from simgap.complexity.eluder import (
    EluderDimension as EluderDimension,
)
from simgap.complexity.eluder import (
    eluder_dimension as eluder_dimension,
)
from simgap.complexity.eluder_bounds import (
    UpperBound as UpperBound,
)
from simgap.complexity.eluder_bounds import (
    linear_eluder_bound as linear_eluder_bound,
)
from simgap.complexity.function_class import (
    FunctionClass as FunctionClass,
)
from simgap.complexity.function_class import (
    Point as Point,
)
from simgap.complexity.function_class import (
    function_class as function_class,
)
from simgap.complexity.function_class import (
    function_class_from_matrix as function_class_from_matrix,
)
from simgap.complexity.function_class import (
    precise_biases as precise_biases,
)
from simgap.complexity.importance import (
    Importance as Importance,
)
from simgap.complexity.importance import (
    importance as importance,
)
from simgap.complexity.metrics import (
    AverageL1 as AverageL1,
)
from simgap.complexity.metrics import (
    Discrete as Discrete,
)
from simgap.complexity.metrics import (
    GreatestL1 as GreatestL1,
)
from simgap.complexity.metrics import (
    Metric as Metric,
)
from simgap.complexity.metrics import (
    ModelDistances as ModelDistances,
)
from simgap.complexity.metrics import (
    ParameterDistance as ParameterDistance,
)
from simgap.complexity.metrics import (
    model_distances as model_distances,
)
from simgap.complexity.separation import (
    MOST_MODELS as MOST_MODELS,
)
from simgap.complexity.separation import (
    TIE as TIE,
)
from simgap.complexity.separation import (
    ModelPair as ModelPair,
)
from simgap.complexity.separation import (
    Separation as Separation,
)
from simgap.complexity.separation import (
    separation as separation,
)
from simgap.complexity.smoothness import (
    Lipschitz as Lipschitz,
)
from simgap.complexity.smoothness import (
    Smoothness as Smoothness,
)
from simgap.complexity.smoothness import (
    gap_constant as gap_constant,
)
from simgap.complexity.smoothness import (
    lipschitz as lipschitz,
)
from simgap.complexity.smoothness import (
    optimal_constant as optimal_constant,
)
from simgap.complexity.smoothness import (
    policy_constant as policy_constant,
)
from simgap.complexity.smoothness import (
    smoothness as smoothness,
)
