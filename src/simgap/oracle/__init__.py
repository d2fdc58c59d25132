"""The domain-randomization oracle: certified planning in latent MDPs."""

from simgap._kernels.compile_clock import working_seconds
from simgap.oracle.baselines import (
    Baseline,
    baselines,
    value_of_memory,
    value_of_randomization,
)
from simgap.oracle.baselines.acceptable import acceptable_in_every_model
from simgap.oracle.baselines.history_values import Seen, gaps_by_histories
from simgap.oracle.baselines.memoryless import (
    ShortMemoryPlan,
    best_plan,
    fits,
    guided_plan,
)
from simgap.oracle.baselines.single_model import (
    best_memoryless,
    mean_model,
    mean_model_plan,
    single_plans,
)
from simgap.oracle.baselines.table import memory_proofs
from simgap.oracle.baselines.windowed import window_nodes
from simgap.oracle.completed_graph import average_plan, completed_graph
from simgap.oracle.entry import (
    domain_randomization_oracle,
    planned_in_part,
    planned_policy,
)
from simgap.oracle.episode_design import FEW
from simgap.oracle.estimate import estimated_gap, estimated_gaps_per_model
from simgap.oracle.exact import exact_rounding, solve_exact
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.large_class import part_to_plan
from simgap.oracle.loss_form import LossForm, bytes_of_losses, loss_form
from simgap.oracle.pair_prices import compared_models, pair_prices
from simgap.oracle.part_of_class import part_of_class, spread_over
from simgap.oracle.result import OracleResult, Outcome, VectorSets
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from simgap.oracle.to_run import belief_policy
from simgap.oracle.watch import Progress

__all__ = [
    "FEW",
    "AutoOracle",
    "Baseline",
    "BoundedOracle",
    "ExactOracle",
    "GridOracle",
    "LossForm",
    "OracleResult",
    "Outcome",
    "Progress",
    "Seen",
    "ShortMemoryPlan",
    "Solver",
    "VectorSets",
    "acceptable_in_every_model",
    "average_plan",
    "baselines",
    "belief_policy",
    "best_memoryless",
    "best_plan",
    "bytes_of_losses",
    "compared_models",
    "completed_graph",
    "domain_randomization_oracle",
    "estimated_gap",
    "estimated_gaps_per_model",
    "exact_rounding",
    "fits",
    "gaps_by_histories",
    "graph_gaps",
    "guided_plan",
    "loss_form",
    "mean_model",
    "mean_model_plan",
    "memory_proofs",
    "pair_prices",
    "part_of_class",
    "part_to_plan",
    "planned_in_part",
    "planned_policy",
    "single_plans",
    "solve_exact",
    "spread_over",
    "value_of_memory",
    "value_of_randomization",
    "window_nodes",
    "working_seconds",
]
