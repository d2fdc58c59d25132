from simgap.simulation.in_simulator import (
    episodes_to_run as episodes_to_run,
    in_simulator as in_simulator,
)
from simgap.simulation.observed import (
    ObservedClass as ObservedClass,
    RewardSignal as RewardSignal,
    observed_class as observed_class,
)
from simgap.simulation.runs import (
    Program as Program,
    Progress as Progress,
    Runs as Runs,
    Stepwise as Stepwise,
    log_grid as log_grid,
    run_program as run_program,
)
from simgap.simulation.score_range import (
    ScoreRanges as ScoreRanges,
    score_ranges as score_ranges,
)
from simgap.simulation.stepwise import (
    Eliminating as Eliminating,
    RandomizedPolicy as RandomizedPolicy,
    run_stepwise as run_stepwise,
)
from simgap.simulation.worlds import (
    RealModels as RealModels,
    real_models as real_models,
)
