from simgap.policies.agent import (
    Agent as Agent,
    Episode as Episode,
    run_episode as run_episode,
)
from simgap.policies.belief import (
    BeliefPolicy as BeliefPolicy,
)
from simgap.policies.checks import (
    check_lived as check_lived,
    check_name as check_name,
    check_state as check_state,
    check_step as check_step,
    surely as surely,
)
from simgap.policies.files import (
    SavedPolicy as SavedPolicy,
    load_policy as load_policy,
    load_policy_and_grid as load_policy_and_grid,
    save_policy as save_policy,
)
from simgap.policies.graph import (
    FOREVER as FOREVER,
    NOWHERE as NOWHERE,
    GraphPolicy as GraphPolicy,
    Pattern as Pattern,
)
from simgap.policies.grid_player import (
    GridPlayer as GridPlayer,
)
from simgap.policies.interface import (
    Policy as Policy,
    Step as Step,
)
from simgap.policies.markov import (
    MarkovPolicy as MarkovPolicy,
)
from simgap.policies.thompson import (
    ThompsonPolicy as ThompsonPolicy,
)
from simgap.policies.window import (
    WindowPolicy as WindowPolicy,
    number_of_windows as number_of_windows,
)
