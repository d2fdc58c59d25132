from simgap.simulation.in_simulator import (
    InSimulator as InSimulator,
)
from simgap.simulation.in_simulator import (
    episodes_to_run as episodes_to_run,
)
from simgap.simulation.in_simulator import (
    in_simulator as in_simulator,
)
from simgap.simulation.observed import (
    ObservedClass as ObservedClass,
)
from simgap.simulation.observed import (
    RewardSignal as RewardSignal,
)
from simgap.simulation.observed import (
    observed_class as observed_class,
)
from simgap.simulation.runs import (
    Program as Program,
)
from simgap.simulation.runs import (
    Progress as Progress,
)
from simgap.simulation.runs import (
    Runs as Runs,
)
from simgap.simulation.runs import (
    Stepwise as Stepwise,
)
from simgap.simulation.runs import (
    log_grid as log_grid,
)
from simgap.simulation.runs import (
    run_program as run_program,
)
from simgap.simulation.score_range import (
    ScoreRanges as ScoreRanges,
)
from simgap.simulation.score_range import (
    score_ranges as score_ranges,
)
from simgap.simulation.stepwise import (
    Eliminating as Eliminating,
)
from simgap.simulation.stepwise import (
    Lucky as Lucky,
)
from simgap.simulation.stepwise import (
    run_stepwise as run_stepwise,
)
from simgap.simulation.worlds import (
    RealModels as RealModels,
)
from simgap.simulation.worlds import (
    real_models as real_models,
)
