"""Algorithms 1 to 4 of the paper, improved members of the family, and their peers."""

from simgap.base_policies.comparison import Comparison, Pairing
from simgap.base_policies.cover import cover_of_family
from simgap.base_policies.cover_agent import OptimisticCover, optimistic_cover
from simgap.base_policies.elimination import Elimination, elimination
from simgap.base_policies.explore_then_commit import (
    ExploreThenCommit,
    explore_then_commit,
)
from simgap.base_policies.fixed import FixedPolicy, fixed_policy, uniformly_random
from simgap.base_policies.general_mixture import (
    OptimisticMixture,
    optimistic_mixture,
)
from simgap.base_policies.general_optimistic import (
    GeneralOptimistic,
    general_optimistic,
)
from simgap.base_policies.knowledge import ClassKnowledge, class_knowledge
from simgap.base_policies.likelihood_optimism import (
    LikelihoodOptimism,
    likelihood_optimism,
)
from simgap.base_policies.mixture_class import (
    MixtureClass,
    mixture_of,
    mixture_over_ball,
)
from simgap.base_policies.mixture_optimism import OptimisticMember, optimistic_member
from simgap.base_policies.optimistic import (
    OptimisticExploration,
    Threshold,
    optimistic_exploration,
)
from simgap.base_policies.parametric_family import Smoothness, estimated_smoothness
from simgap.base_policies.posterior_sampling import (
    EpisodeRule,
    PosteriorSampling,
    posterior_sampling,
)
from simgap.base_policies.psrl import PSRL, psrl
from simgap.base_policies.travel_plan import TravelBudget, TravelSet
from simgap.base_policies.ucrl import UCRL, ucrl2, ucrl2b
from simgap.base_policies.without_memory import mean_model_policy, memoryless_policy

__all__ = [
    "PSRL",
    "UCRL",
    "ClassKnowledge",
    "Comparison",
    "Elimination",
    "EpisodeRule",
    "ExploreThenCommit",
    "FixedPolicy",
    "GeneralOptimistic",
    "LikelihoodOptimism",
    "MixtureClass",
    "OptimisticCover",
    "OptimisticExploration",
    "OptimisticMember",
    "OptimisticMixture",
    "Pairing",
    "PosteriorSampling",
    "Smoothness",
    "Threshold",
    "TravelBudget",
    "TravelSet",
    "class_knowledge",
    "cover_of_family",
    "elimination",
    "estimated_smoothness",
    "explore_then_commit",
    "fixed_policy",
    "general_optimistic",
    "likelihood_optimism",
    "mean_model_policy",
    "memoryless_policy",
    "mixture_of",
    "mixture_over_ball",
    "optimistic_cover",
    "optimistic_exploration",
    "optimistic_member",
    "optimistic_mixture",
    "posterior_sampling",
    "psrl",
    "ucrl2",
    "ucrl2b",
    "uniformly_random",
]
