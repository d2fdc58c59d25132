from simgap._kernels.agents.algorithm_1 import (
    ANYTIME as ANYTIME,
)
from simgap._kernels.agents.algorithm_1 import (
    FIXED as FIXED,
)
from simgap._kernels.agents.algorithm_1 import (
    SPRT as SPRT,
)
from simgap._kernels.agents.algorithm_1 import (
    Ending as Ending,
)
from simgap._kernels.agents.algorithm_1 import (
    run_elimination as run_elimination,
)
from simgap._kernels.agents.algorithm_2 import (
    Search as Search,
)
from simgap._kernels.agents.algorithm_3 import (
    Candidates as Candidates,
)
from simgap._kernels.agents.algorithm_3 import (
    run_optimistic as run_optimistic,
)
from simgap._kernels.agents.algorithm_4 import (
    Fits as Fits,
)
from simgap._kernels.agents.algorithm_4 import (
    Rule as Rule,
)
from simgap._kernels.agents.algorithm_4 import (
    run_general as run_general,
)
from simgap._kernels.agents.explore_then_commit import (
    Choices as Choices,
)
from simgap._kernels.agents.explore_then_commit import (
    run_commitment as run_commitment,
)
from simgap._kernels.agents.first_passage import (
    passage_steps as passage_steps,
)
from simgap._kernels.agents.fixed_policies import (
    Graph as Graph,
)
from simgap._kernels.agents.fixed_policies import (
    Table as Table,
)
from simgap._kernels.agents.fixed_policies import (
    run_graph as run_graph,
)
from simgap._kernels.agents.fixed_policies import (
    run_table as run_table,
)
from simgap._kernels.agents.likelihood_optimism import (
    Rivals as Rivals,
)
from simgap._kernels.agents.likelihood_optimism import (
    run_likelihood as run_likelihood,
)
from simgap._kernels.agents.posterior_sampling import (
    Hypotheses as Hypotheses,
)
from simgap._kernels.agents.posterior_sampling import (
    drawn_model as drawn_model,
)
from simgap._kernels.agents.posterior_sampling import (
    run_posterior_sampling as run_posterior_sampling,
)
from simgap._kernels.agents.psrl import (
    empty_draw as empty_draw,
)
from simgap._kernels.agents.psrl import (
    plan_psrl as plan_psrl,
)
from simgap._kernels.agents.psrl import (
    run_psrl as run_psrl,
)
from simgap._kernels.agents.ucrl import (
    plan_ucrl as plan_ucrl,
)
from simgap._kernels.agents.ucrl import (
    run_ucrl as run_ucrl,
)
