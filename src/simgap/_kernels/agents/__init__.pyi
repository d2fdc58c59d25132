from simgap._kernels.agents.algorithm_1 import (
    ANYTIME as ANYTIME,
    FIXED as FIXED,
    SPRT as SPRT,
    Ending as Ending,
    run_elimination as run_elimination,
)
from simgap._kernels.agents.algorithm_2 import (
    Search as Search,
)
from simgap._kernels.agents.algorithm_3 import (
    Candidates as Candidates,
    run_optimistic as run_optimistic,
    threshold as threshold,
)
from simgap._kernels.agents.algorithm_4 import (
    Fits as Fits,
    Rule as Rule,
    run_general as run_general,
)
from simgap._kernels.agents.explore_then_commit import (
    run_commitment as run_commitment,
)
from simgap._kernels.agents.first_passage import (
    passage_steps as passage_steps,
)
from simgap._kernels.agents.fixed_policies import (
    Graph as Graph,
    Table as Table,
    run_graph as run_graph,
    run_table as run_table,
)
from simgap._kernels.agents.known_class import Plans as Plans, Weights as Weights
from simgap._kernels.agents.likelihood_optimism import (
    run_likelihood as run_likelihood,
)
from simgap._kernels.agents.posterior_sampling import (
    drawn_model as drawn_model,
    run_posterior_sampling as run_posterior_sampling,
)
from simgap._kernels.agents.psrl import (
    empty_draw as empty_draw,
    plan_psrl as plan_psrl,
    run_psrl as run_psrl,
)
from simgap._kernels.agents.ucrl import (
    plan_ucrl as plan_ucrl,
    run_ucrl as run_ucrl,
)
