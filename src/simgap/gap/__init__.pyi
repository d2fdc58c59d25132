from simgap.gap.control_variate import (
    combined as combined,
)
from simgap.gap.evaluator import (
    Exact as Exact,
)
from simgap.gap.evaluator import (
    MonteCarlo as MonteCarlo,
)
from simgap.gap.exact import (
    elimination_tests as elimination_tests,
)
from simgap.gap.exact import (
    exact_gaps as exact_gaps,
)
from simgap.gap.first_passage import (
    EliminationTests as EliminationTests,
)
from simgap.gap.first_passage import (
    OptimisticGap as OptimisticGap,
)
from simgap.gap.first_passage import (
    optimistic_gap as optimistic_gap,
)
from simgap.gap.measure import (
    average_certified as average_certified,
)
from simgap.gap.measure import (
    average_gap as average_gap,
)
from simgap.gap.measure import (
    gaps as gaps,
)
from simgap.gap.measure import (
    regret as regret,
)
from simgap.gap.measure import (
    sim_to_real_gap as sim_to_real_gap,
)
from simgap.gap.measure import (
    worst_gap as worst_gap,
)
from simgap.gap.measure import (
    worst_of as worst_of,
)
from simgap.gap.sampled import (
    SampledGap as SampledGap,
)
from simgap.gap.sampled import (
    average_sampled as average_sampled,
)
from simgap.gap.sampled import (
    measured as measured,
)
from simgap.gap.sampled import (
    program_of as program_of,
)
from simgap.gap.sampled import (
    sampled_gaps as sampled_gaps,
)
from simgap.gap.sampled import (
    worst_sampled as worst_sampled,
)
