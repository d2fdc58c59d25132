from simgap._kernels.compile_clock import working_seconds as working_seconds
from simgap.oracle.baselines import (
    Baseline as Baseline,
    baselines as baselines,
    value_of_memory as value_of_memory,
    value_of_randomization as value_of_randomization,
)
from simgap.oracle.baselines.history_values import (
    Seen as Seen,
    gaps_by_histories as gaps_by_histories,
)
from simgap.oracle.baselines.memoryless import (
    ShortMemoryPlan as ShortMemoryPlan,
    best_plan as best_plan,
    fits as fits,
    guided_plan as guided_plan,
)
from simgap.oracle.baselines.single_model import (
    best_memoryless as best_memoryless,
    mean_model as mean_model,
    mean_model_plan as mean_model_plan,
    single_plans as single_plans,
)
from simgap.oracle.baselines.table import memory_proofs as memory_proofs
from simgap.oracle.baselines.windowed import (
    window_nodes as window_nodes,
)
from simgap.oracle.completed_graph import (
    average_plan as average_plan,
    completed_graph as completed_graph,
)
from simgap.oracle.entry import (
    domain_randomization_oracle as domain_randomization_oracle,
    planned_in_part as planned_in_part,
    planned_policy as planned_policy,
)
from simgap.oracle.episode_design import (
    FEW as FEW,
)
from simgap.oracle.estimate import (
    estimated_gap as estimated_gap,
    estimated_gaps_per_model as estimated_gaps_per_model,
)
from simgap.oracle.exact import (
    exact_rounding as exact_rounding,
    solve_exact as solve_exact,
)
from simgap.oracle.graph_values import (
    graph_gaps as graph_gaps,
)
from simgap.oracle.large_class import (
    part_to_plan as part_to_plan,
)
from simgap.oracle.loss_form import (
    LossForm as LossForm,
    bytes_of_losses as bytes_of_losses,
    loss_form as loss_form,
)
from simgap.oracle.pair_prices import (
    compared_models as compared_models,
    pair_prices as pair_prices,
)
from simgap.oracle.part_of_class import (
    part_of_class as part_of_class,
    spread_over as spread_over,
)
from simgap.oracle.result import (
    OracleResult as OracleResult,
    Outcome as Outcome,
    VectorSets as VectorSets,
)
from simgap.oracle.settings import (
    AutoOracle as AutoOracle,
    BoundedOracle as BoundedOracle,
    ExactOracle as ExactOracle,
    GridOracle as GridOracle,
    Solver as Solver,
)
from simgap.oracle.to_run import (
    belief_policy as belief_policy,
)
from simgap.oracle.watch import (
    Progress as Progress,
)
