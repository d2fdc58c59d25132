from simgap.base_policies.catalogue import (
    POLICIES as POLICIES,
)
from simgap.base_policies.catalogue import (
    Entry as Entry,
)
from simgap.base_policies.catalogue import (
    build_policy as build_policy,
)
from simgap.base_policies.catalogue import (
    named_policy as named_policy,
)
from simgap.base_policies.fixed import (
    FixedPolicy as FixedPolicy,
)
from simgap.base_policies.fixed import (
    fixed_policy as fixed_policy,
)
from simgap.base_policies.fixed import (
    uniformly_random as uniformly_random,
)
from simgap.base_policies.improved.explore_then_commit import (
    ExploreThenCommit as ExploreThenCommit,
)
from simgap.base_policies.improved.explore_then_commit import (
    explore_then_commit as explore_then_commit,
)
from simgap.base_policies.improved.likelihood_optimism import (
    LikelihoodOptimism as LikelihoodOptimism,
)
from simgap.base_policies.improved.likelihood_optimism import (
    likelihood_optimism as likelihood_optimism,
)
from simgap.base_policies.improved.posterior_sampling import (
    EpisodeRule as EpisodeRule,
)
from simgap.base_policies.improved.posterior_sampling import (
    PosteriorSampling as PosteriorSampling,
)
from simgap.base_policies.improved.posterior_sampling import (
    posterior_sampling as posterior_sampling,
)
from simgap.base_policies.infinite.continuum_agent import (
    continuum_agent as continuum_agent,
)
from simgap.base_policies.infinite.cover import (
    cover_of_family as cover_of_family,
)
from simgap.base_policies.infinite.cover_agent import (
    OptimisticCover as OptimisticCover,
)
from simgap.base_policies.infinite.cover_agent import (
    optimistic_cover as optimistic_cover,
)
from simgap.base_policies.infinite.general_mixture import (
    OptimisticMixture as OptimisticMixture,
)
from simgap.base_policies.infinite.general_mixture import (
    optimistic_mixture as optimistic_mixture,
)
from simgap.base_policies.infinite.mixture_class import (
    MixtureClass as MixtureClass,
)
from simgap.base_policies.infinite.mixture_class import (
    mixture_of as mixture_of,
)
from simgap.base_policies.infinite.mixture_class import (
    mixture_over_ball as mixture_over_ball,
)
from simgap.base_policies.infinite.mixture_optimism import (
    OptimisticMember as OptimisticMember,
)
from simgap.base_policies.infinite.mixture_optimism import (
    optimistic_member as optimistic_member,
)
from simgap.base_policies.infinite.parametric_family import (
    Smoothness as Smoothness,
)
from simgap.base_policies.infinite.parametric_family import (
    estimated_smoothness as estimated_smoothness,
)
from simgap.base_policies.knowledge import (
    ClassKnowledge as ClassKnowledge,
)
from simgap.base_policies.knowledge import (
    class_knowledge as class_knowledge,
)
from simgap.base_policies.outsiders.psrl import (
    PSRL as PSRL,
)
from simgap.base_policies.outsiders.psrl import (
    psrl as psrl,
)
from simgap.base_policies.outsiders.ucrl import (
    UCRL as UCRL,
)
from simgap.base_policies.outsiders.ucrl import (
    ucrl2 as ucrl2,
)
from simgap.base_policies.outsiders.ucrl import (
    ucrl2b as ucrl2b,
)
from simgap.base_policies.paper.comparison import (
    Comparison as Comparison,
)
from simgap.base_policies.paper.comparison import (
    Pairing as Pairing,
)
from simgap.base_policies.paper.elimination import (
    Elimination as Elimination,
)
from simgap.base_policies.paper.elimination import (
    elimination as elimination,
)
from simgap.base_policies.paper.general_optimistic import (
    GeneralOptimistic as GeneralOptimistic,
)
from simgap.base_policies.paper.general_optimistic import (
    general_optimistic as general_optimistic,
)
from simgap.base_policies.paper.optimistic import (
    OptimisticExploration as OptimisticExploration,
)
from simgap.base_policies.paper.optimistic import (
    Threshold as Threshold,
)
from simgap.base_policies.paper.optimistic import (
    optimistic_exploration as optimistic_exploration,
)
from simgap.base_policies.paper.stage_one import (
    StageOne as StageOne,
)
from simgap.base_policies.paper.stage_one import (
    stage_one as stage_one,
)
from simgap.base_policies.paper.travel_plan import (
    TravelBudget as TravelBudget,
)
from simgap.base_policies.paper.travel_plan import (
    TravelSet as TravelSet,
)
from simgap.base_policies.without_memory import (
    mean_model_policy as mean_model_policy,
)
from simgap.base_policies.without_memory import (
    memoryless_policy as memoryless_policy,
)
