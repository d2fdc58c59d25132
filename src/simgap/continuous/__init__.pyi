from .cube import Cube as Cube, Failure as Failure
from .identification.identify import (
    Identified as Identified,
    identified as identified,
)
from .identification.log_files import (
    is_real_log as is_real_log,
    read_real_log as read_real_log,
)
from .identification.predictions import refuse_noise as refuse_noise
from .identification.real_log import RealLog as RealLog
from .identification.sampling import Sampler as Sampler
from .interfaces import (
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
from .measuring.bands import Band as Band
from .measuring.campaign import (
    Entry as Entry,
    Measured as Measured,
    More as More,
    measured as measured,
)
from .measuring.checks import (
    REPETITIONS as REPETITIONS,
    all_checks as all_checks,
    ends_of as ends_of,
    without_effect as without_effect,
)
from .measuring.drawn import Drawn as Drawn, DrawnPoints as DrawnPoints
from .measuring.followed import followed as followed
from .measuring.grading import (
    Graded as Graded,
    graded as graded,
)
from .measuring.jobs import (
    Points as Points,
    Work as Work,
    told_to_informed as told_to_informed,
)
from .measuring.maps import Fit as Fit, fit as fit
from .measuring.means import (
    ENOUGH_SEEDS as ENOUGH_SEEDS,
    Level as Level,
    mean_at as mean_at,
    mean_over as mean_over,
)
from .measuring.normalized import Baseline as Baseline
from .measuring.read_out import explained as explained
from .measuring.returns_table import read_returns as read_returns
from .measuring.step_losses import (
    StepLosses as StepLosses,
    step_losses as step_losses,
)
from .measuring.stopping import (
    Next as Next,
    Rounds as Rounds,
    next_round as next_round,
)
from .measuring.value import (
    MeasuredValue as MeasuredValue,
    measured_return as measured_return,
    returns_of_trainings as returns_of_trainings,
    weighted as weighted,
)
from .measuring.worst import worst_point as worst_point
from .measuring.worth import (
    Combination as Combination,
    Difference as Difference,
    averaged as averaged,
    compared as compared,
)
from .policies.actions import to_actions as to_actions
from .policies.naming import (
    PolicyText as PolicyText,
    open_policy as open_policy,
    read_policy_text as read_policy_text,
)
from .policies.partly_told import PartlyTold as PartlyTold
from .policies.remembering import (
    holds_memory as holds_memory,
    is_informed as is_informed,
    memory_reader as memory_reader,
    what_failed as what_failed,
)
from .randomization.binding import (
    BoundRandomization as BoundRandomization,
    Column as Column,
    bind as bind,
)
from .randomization.designs import (
    REPLICATES as REPLICATES,
    Corners as Corners,
    Design as Design,
    DesignPoints as DesignPoints,
    Grid as Grid,
    RandomPoints as RandomPoints,
    Sobol as Sobol,
    parse_design as parse_design,
)
from .randomization.distributions import (
    Choice as Choice,
    Distribution as Distribution,
    Fixed as Fixed,
    LogUniform as LogUniform,
    TruncatedNormal as TruncatedNormal,
    Uniform as Uniform,
)
from .randomization.domains import domain_text as domain_text
from .randomization.isaac import read_isaac as read_isaac
from .randomization.narrowing import narrowed as narrowed
from .randomization.reading import (
    Randomized as Randomized,
    parse_randomization as parse_randomization,
)
from .randomization.row_files import write_rows as write_rows
from .randomization.spec import (
    Group as Group,
    Item as Item,
    Operation as Operation,
    Randomization as Randomization,
    Rows as Rows,
)
from .simulators.batch import (
    simulator_from_batch as simulator_from_batch,
)
from .simulators.delay import with_delay as with_delay
from .simulators.effect import (
    REPEATS as REPEATS,
    episodes_differ as episodes_differ,
    first_episode as first_episode,
    repetition as repetition,
)
from .simulators.factory import (
    simulator_from_factory as simulator_from_factory,
)
from .simulators.jax_door import (
    JaxSimulator as JaxSimulator,
    episode_keys as episode_keys,
    open_jax as open_jax,
)
from .simulators.jax_task import JaxTask as JaxTask
from .simulators.mujoco_door import (
    MuJoCoSimulator as MuJoCoSimulator,
    open_mujoco as open_mujoco,
)
from .simulators.mujoco_tasks import (
    MuJoCoTask as MuJoCoTask,
)
from .simulators.naming import (
    BUILT_IN as BUILT_IN,
    open_simulator as open_simulator,
)
from .simulators.noise import (
    Noise as Noise,
    noise_of as noise_of,
    with_noise as with_noise,
)
from .simulators.tabular_door import (
    TabularSimulator as TabularSimulator,
)
from .training.draws import (
    OwnDraws as OwnDraws,
    Returns as Returns,
)
from .training.features import features_of as features_of
from .training.finished import (
    finished_trainings as finished_trainings,
)
from .training.memory import (
    Memory as Memory,
    parse_memory as parse_memory,
)
from .training.own_trainer import (
    OwnSampler as OwnSampler,
    TrainFunction as TrainFunction,
    as_env as as_env,
)
from .training.seeds import (
    ONE_THREAD as ONE_THREAD,
    TrainedSeed as TrainedSeed,
    TrainingRecipe as TrainingRecipe,
    train_all as train_all,
)
from .training.settings import (
    Settings as Settings,
    preset as preset,
)
from .training.trainer import Outcome as Outcome
