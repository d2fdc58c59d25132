"""Agents that know the class and lose less than Algorithms 1 to 4."""

from simgap.base_policies.improved.explore_then_commit import (
    ExploreThenCommit,
    explore_then_commit,
)
from simgap.base_policies.improved.likelihood_optimism import (
    LikelihoodOptimism,
    likelihood_optimism,
)
from simgap.base_policies.improved.posterior_sampling import (
    EpisodeRule,
    PosteriorSampling,
    posterior_sampling,
)

__all__ = [
    "EpisodeRule",
    "ExploreThenCommit",
    "LikelihoodOptimism",
    "PosteriorSampling",
    "explore_then_commit",
    "likelihood_optimism",
    "posterior_sampling",
]
