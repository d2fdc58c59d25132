from simgap.policies.agent import (
    Agent as Agent,
)
from simgap.policies.agent import (
    Episode as Episode,
)
from simgap.policies.agent import (
    run_episode as run_episode,
)
from simgap.policies.belief import (
    BeliefPolicy as BeliefPolicy,
)
from simgap.policies.checks import (
    check_lived as check_lived,
)
from simgap.policies.checks import (
    check_name as check_name,
)
from simgap.policies.checks import (
    check_state as check_state,
)
from simgap.policies.checks import (
    check_step as check_step,
)
from simgap.policies.checks import (
    surely as surely,
)
from simgap.policies.files import (
    SavedPolicy as SavedPolicy,
)
from simgap.policies.files import (
    load_policy as load_policy,
)
from simgap.policies.files import (
    save_policy as save_policy,
)
from simgap.policies.graph import (
    FOREVER as FOREVER,
)
from simgap.policies.graph import (
    NOWHERE as NOWHERE,
)
from simgap.policies.graph import (
    GraphPolicy as GraphPolicy,
)
from simgap.policies.graph import (
    Pattern as Pattern,
)
from simgap.policies.grid_player import (
    GridPlayer as GridPlayer,
)
from simgap.policies.interface import (
    Policy as Policy,
)
from simgap.policies.interface import (
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
)
from simgap.policies.window import (
    number_of_windows as number_of_windows,
)
