from simgap.base_policies.catalogue import (
    POLICIES as POLICIES,
    Entry as Entry,
    build_policy as build_policy,
    named_policy as named_policy,
)
from simgap.base_policies.fixed import (
    FixedPolicy as FixedPolicy,
    fixed_policy as fixed_policy,
    uniformly_random as uniformly_random,
)
from simgap.base_policies.improved.explore_then_commit import (
    ExploreThenCommit as ExploreThenCommit,
    explore_then_commit as explore_then_commit,
)
from simgap.base_policies.improved.likelihood_optimism import (
    LikelihoodOptimism as LikelihoodOptimism,
    likelihood_optimism as likelihood_optimism,
)
from simgap.base_policies.improved.posterior_sampling import (
    EpisodeRule as EpisodeRule,
    PosteriorSampling as PosteriorSampling,
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
    optimistic_cover as optimistic_cover,
)
from simgap.base_policies.infinite.general_mixture import (
    OptimisticMixture as OptimisticMixture,
    optimistic_mixture as optimistic_mixture,
)
from simgap.base_policies.infinite.mixture_class import (
    MixtureClass as MixtureClass,
    mixture_of as mixture_of,
    mixture_over_ball as mixture_over_ball,
)
from simgap.base_policies.infinite.mixture_optimism import (
    OptimisticMember as OptimisticMember,
    optimistic_member as optimistic_member,
)
from simgap.base_policies.infinite.parametric_family import (
    Smoothness as Smoothness,
    estimated_smoothness as estimated_smoothness,
)
from simgap.base_policies.knowledge import (
    ClassKnowledge as ClassKnowledge,
    class_knowledge as class_knowledge,
)
from simgap.base_policies.outsiders.psrl import (
    PSRL as PSRL,
    psrl as psrl,
)
from simgap.base_policies.outsiders.ucrl import (
    UCRL as UCRL,
    ucrl2 as ucrl2,
    ucrl2b as ucrl2b,
)
from simgap.base_policies.paper.comparison import (
    Comparison as Comparison,
    Pairing as Pairing,
)
from simgap.base_policies.paper.elimination import (
    Elimination as Elimination,
    elimination as elimination,
)
from simgap.base_policies.paper.general_optimistic import (
    GeneralOptimistic as GeneralOptimistic,
    general_optimistic as general_optimistic,
)
from simgap.base_policies.paper.optimistic import (
    OptimisticExploration as OptimisticExploration,
    Threshold as Threshold,
    optimistic_exploration as optimistic_exploration,
)
from simgap.base_policies.paper.stage_one import (
    StageOne as StageOne,
    stage_one as stage_one,
)
from simgap.base_policies.paper.travel_plan import (
    TravelBudget as TravelBudget,
    TravelSet as TravelSet,
)
from simgap.base_policies.without_memory import (
    mean_model_policy as mean_model_policy,
    memoryless_policy as memoryless_policy,
)
