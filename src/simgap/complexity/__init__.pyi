from simgap.complexity.covering import (
    CoveringNumber as CoveringNumber,
    covering_number as covering_number,
    linear_covering_bound as linear_covering_bound,
)
from simgap.complexity.eluder import (
    EluderDimension as EluderDimension,
    eluder_dimension as eluder_dimension,
)
from simgap.complexity.eluder_bounds import (
    UpperBound as UpperBound,
    linear_eluder_bound as linear_eluder_bound,
)
from simgap.complexity.function_class import (
    FunctionClass as FunctionClass,
    Point as Point,
    function_class as function_class,
    function_class_from_matrix as function_class_from_matrix,
    precise_biases as precise_biases,
)
from simgap.complexity.importance import (
    Importance as Importance,
    importance as importance,
)
from simgap.complexity.separation import (
    MOST_MODELS as MOST_MODELS,
    TIE as TIE,
    ModelPair as ModelPair,
    Separation as Separation,
    separation as separation,
    separation_of_laws as separation_of_laws,
)
from simgap.complexity.smoothness import (
    AverageL1 as AverageL1,
    Discrete as Discrete,
    GreatestL1 as GreatestL1,
    Lipschitz as Lipschitz,
    Metric as Metric,
    ModelDistances as ModelDistances,
    ParameterDistance as ParameterDistance,
    Smoothness as Smoothness,
    gap_constant as gap_constant,
    lipschitz as lipschitz,
    model_distances as model_distances,
    optimal_constant as optimal_constant,
    policy_constant as policy_constant,
    smoothness as smoothness,
)
