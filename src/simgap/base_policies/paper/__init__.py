"""Algorithms 1 to 4 of the paper."""

from simgap.base_policies.paper.comparison import Comparison, Pairing
from simgap.base_policies.paper.elimination import Elimination, elimination
from simgap.base_policies.paper.general_optimistic import (
    GeneralOptimistic,
    general_optimistic,
)
from simgap.base_policies.paper.optimistic import (
    OptimisticExploration,
    Threshold,
    optimistic_exploration,
)
from simgap.base_policies.paper.stage_one import StageOne, stage_one
from simgap.base_policies.paper.travel_plan import TravelBudget, TravelSet

__all__ = [
    "Comparison",
    "Elimination",
    "GeneralOptimistic",
    "OptimisticExploration",
    "Pairing",
    "StageOne",
    "Threshold",
    "TravelBudget",
    "TravelSet",
    "elimination",
    "general_optimistic",
    "optimistic_exploration",
    "stage_one",
]
