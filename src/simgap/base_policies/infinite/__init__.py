"""Algorithm 4 on classes with infinitely many models: mixtures and covers."""

from simgap.base_policies.infinite.continuum_agent import continuum_agent
from simgap.base_policies.infinite.cover import cover_of_family
from simgap.base_policies.infinite.cover_agent import OptimisticCover, optimistic_cover
from simgap.base_policies.infinite.general_mixture import (
    OptimisticMixture,
    optimistic_mixture,
)
from simgap.base_policies.infinite.mixture_class import (
    MixtureClass,
    mixture_of,
    mixture_over_ball,
)
from simgap.base_policies.infinite.mixture_optimism import (
    OptimisticMember,
    optimistic_member,
)
from simgap.base_policies.infinite.parametric_family import (
    Smoothness,
    estimated_smoothness,
)

__all__ = [
    "MixtureClass",
    "OptimisticCover",
    "OptimisticMember",
    "OptimisticMixture",
    "Smoothness",
    "continuum_agent",
    "cover_of_family",
    "estimated_smoothness",
    "mixture_of",
    "mixture_over_ball",
    "optimistic_cover",
    "optimistic_member",
    "optimistic_mixture",
]
