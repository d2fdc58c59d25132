from simgap.continuous.cube import Cube as Cube, Failure as Failure
from simgap.continuous.identification.identify import (
    Identified as Identified,
    identified as identified,
)
from simgap.continuous.identification.log_files import (
    is_real_log as is_real_log,
    read_real_log as read_real_log,
)
from simgap.continuous.identification.predictions import refuse_noise as refuse_noise
from simgap.continuous.identification.real_log import RealLog as RealLog
from simgap.continuous.identification.sampling import Sampler as Sampler
from simgap.continuous.interfaces import (
    Batch as Batch,
    Box as Box,
    BroughtPolicy as BroughtPolicy,
    Choices as Choices,
    Parameter as Parameter,
    Placeable as Placeable,
    Simulator as Simulator,
    Space as Space,
    Stepped as Stepped,
    Worlds as Worlds,
)
from simgap.continuous.measuring.bands import Band as Band
from simgap.continuous.measuring.campaign import (
    Entry as Entry,
    Measured as Measured,
    More as More,
    measured as measured,
)
from simgap.continuous.measuring.checks import (
    all_checks as all_checks,
    without_effect as without_effect,
)
from simgap.continuous.measuring.drawn import Drawn as Drawn, DrawnPoints as DrawnPoints
from simgap.continuous.measuring.followed import followed as followed
from simgap.continuous.measuring.grading import (
    Graded as Graded,
    graded as graded,
)
from simgap.continuous.measuring.jobs import (
    Points as Points,
    Work as Work,
    told_to_informed as told_to_informed,
)
from simgap.continuous.measuring.maps import Fit as Fit, fit as fit
from simgap.continuous.measuring.means import (
    ENOUGH_SEEDS as ENOUGH_SEEDS,
    Level as Level,
    mean_at as mean_at,
    mean_over as mean_over,
)
from simgap.continuous.measuring.read_out import explained as explained
from simgap.continuous.measuring.returns_table import read_returns as read_returns
from simgap.continuous.measuring.step_losses import (
    StepLosses as StepLosses,
    step_losses as step_losses,
)
from simgap.continuous.measuring.stopping import (
    Next as Next,
    Rounds as Rounds,
    next_round as next_round,
)
from simgap.continuous.measuring.value import (
    MeasuredValue as MeasuredValue,
    measured_return as measured_return,
    returns_of_trainings as returns_of_trainings,
    weighted as weighted,
)
from simgap.continuous.measuring.worst import worst_point as worst_point
from simgap.continuous.measuring.worth import (
    Combination as Combination,
    Difference as Difference,
    averaged as averaged,
    compared as compared,
)
from simgap.continuous.policies.actions import to_actions as to_actions
from simgap.continuous.policies.naming import (
    PolicyText as PolicyText,
    open_policy as open_policy,
    read_policy_text as read_policy_text,
)
from simgap.continuous.policies.partly_told import PartlyTold as PartlyTold
from simgap.continuous.policies.remembering import (
    holds_memory as holds_memory,
    is_informed as is_informed,
    memory_reader as memory_reader,
    what_failed as what_failed,
)
from simgap.continuous.randomization.binding import (
    BoundRandomization as BoundRandomization,
    Column as Column,
    bind as bind,
)
from simgap.continuous.randomization.designs import (
    REPLICATES as REPLICATES,
    Corners as Corners,
    Design as Design,
    DesignPoints as DesignPoints,
    Grid as Grid,
    RandomPoints as RandomPoints,
    Sobol as Sobol,
    parse_design as parse_design,
)
from simgap.continuous.randomization.distributions import (
    Choice as Choice,
    Distribution as Distribution,
    Fixed as Fixed,
    LogUniform as LogUniform,
    TruncatedNormal as TruncatedNormal,
    Uniform as Uniform,
)
from simgap.continuous.randomization.domains import domain_text as domain_text
from simgap.continuous.randomization.isaac import read_isaac as read_isaac
from simgap.continuous.randomization.narrowing import narrowed as narrowed
from simgap.continuous.randomization.reading import (
    Randomized as Randomized,
    parse_randomization as parse_randomization,
)
from simgap.continuous.randomization.row_files import write_rows as write_rows
from simgap.continuous.randomization.spec import (
    Group as Group,
    Item as Item,
    Operation as Operation,
    Randomization as Randomization,
    Rows as Rows,
)
from simgap.continuous.simulators.batch import (
    simulator_from_batch as simulator_from_batch,
)
from simgap.continuous.simulators.delay import with_delay as with_delay
from simgap.continuous.simulators.effect import (
    episodes_differ as episodes_differ,
    repeats as repeats,
)
from simgap.continuous.simulators.factory import (
    simulator_from_factory as simulator_from_factory,
)
from simgap.continuous.simulators.jax_door import (
    JaxSimulator as JaxSimulator,
    episode_keys as episode_keys,
    open_jax as open_jax,
)
from simgap.continuous.simulators.jax_task import JaxTask as JaxTask
from simgap.continuous.simulators.mujoco_door import (
    MuJoCoSimulator as MuJoCoSimulator,
    open_mujoco as open_mujoco,
)
from simgap.continuous.simulators.mujoco_tasks import (
    MuJoCoTask as MuJoCoTask,
)
from simgap.continuous.simulators.naming import (
    BUILT_IN as BUILT_IN,
    open_simulator as open_simulator,
)
from simgap.continuous.simulators.noise import (
    Noise as Noise,
    noise_of as noise_of,
    with_noise as with_noise,
)
from simgap.continuous.simulators.tabular_door import (
    TabularSimulator as TabularSimulator,
)
from simgap.continuous.training.draws import (
    OwnDraws as OwnDraws,
    Returns as Returns,
)
from simgap.continuous.training.features import features_of as features_of
from simgap.continuous.training.finished import (
    finished_trainings as finished_trainings,
)
from simgap.continuous.training.memory import (
    Memory as Memory,
    parse_memory as parse_memory,
)
from simgap.continuous.training.own_trainer import (
    OwnSampler as OwnSampler,
    TrainFunction as TrainFunction,
    as_env as as_env,
)
from simgap.continuous.training.seeds import (
    ONE_THREAD as ONE_THREAD,
    TrainedSeed as TrainedSeed,
    TrainingRecipe as TrainingRecipe,
    train_all as train_all,
)
from simgap.continuous.training.settings import (
    Settings as Settings,
    preset as preset,
)
from simgap.continuous.training.trainer import Outcome as Outcome
