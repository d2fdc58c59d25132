"""How hard a class is: separation, smoothness, covers, eluder dimension."""

from simgap.complexity.covering import (
    CoveringNumber,
    covering_number,
    linear_covering_bound,
)
from simgap.complexity.eluder import EluderDimension, eluder_dimension
from simgap.complexity.eluder_bounds import UpperBound, linear_eluder_bound
from simgap.complexity.function_class import (
    FunctionClass,
    Point,
    function_class,
    function_class_from_matrix,
    precise_biases,
)
from simgap.complexity.separation import (
    MOST_MODELS,
    TIE,
    ModelPair,
    Separation,
    separation,
    separation_of_laws,
)
from simgap.complexity.smoothness import (
    AverageL1,
    Discrete,
    GreatestL1,
    Lipschitz,
    Metric,
    ModelDistances,
    ParameterDistance,
    Smoothness,
    gap_constant,
    lipschitz,
    model_distances,
    optimal_constant,
    policy_constant,
    smoothness,
)

__all__ = [
    "MOST_MODELS",
    "TIE",
    "AverageL1",
    "CoveringNumber",
    "Discrete",
    "EluderDimension",
    "FunctionClass",
    "GreatestL1",
    "Lipschitz",
    "Metric",
    "ModelDistances",
    "ModelPair",
    "ParameterDistance",
    "Point",
    "Separation",
    "Smoothness",
    "UpperBound",
    "covering_number",
    "eluder_dimension",
    "function_class",
    "function_class_from_matrix",
    "gap_constant",
    "linear_covering_bound",
    "linear_eluder_bound",
    "lipschitz",
    "model_distances",
    "optimal_constant",
    "policy_constant",
    "precise_biases",
    "separation",
    "separation_of_laws",
    "smoothness",
]
