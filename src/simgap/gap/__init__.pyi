from simgap.gap.evaluator import (
    Exact as Exact,
    MonteCarlo as MonteCarlo,
)
from simgap.gap.exact import (
    elimination_tests as elimination_tests,
    exact_gaps as exact_gaps,
)
from simgap.gap.first_passage import (
    EliminationTests as EliminationTests,
    OptimisticGap as OptimisticGap,
    first_passage_gap as first_passage_gap,
)
from simgap.gap.measure import (
    average_certified as average_certified,
    average_gap as average_gap,
    gaps as gaps,
    regret as regret,
    sim_to_real_gap as sim_to_real_gap,
    worst_gap as worst_gap,
    worst_of as worst_of,
)
from simgap.gap.sampled import (
    SampledGap as SampledGap,
    average_sampled as average_sampled,
    combined as combined,
    measured as measured,
    program_of as program_of,
    sampled_gaps as sampled_gaps,
    worst_sampled as worst_sampled,
)
