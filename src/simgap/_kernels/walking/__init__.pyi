from simgap._kernels.walking.alias import (
    fill_aliases as fill_aliases,
)
from simgap._kernels.walking.streams import (
    episode_keys as episode_keys,
)
from simgap._kernels.walking.streams import (
    mixed as mixed,
)
from simgap._kernels.walking.streams import (
    uniform as uniform,
)
from simgap._kernels.walking.walk import (
    STATE as STATE,
)
from simgap._kernels.walking.walk import (
    Record as Record,
)
from simgap._kernels.walking.walk import (
    Run as Run,
)
from simgap._kernels.walking.walk import (
    Tails as Tails,
)
from simgap._kernels.walking.walk import (
    World as World,
)
from simgap._kernels.walking.walk import (
    agent_uniform as agent_uniform,
)
from simgap._kernels.walking.walk import (
    begin as begin,
)
from simgap._kernels.walking.walk import (
    finish as finish,
)
from simgap._kernels.walking.walk import (
    step_with as step_with,
)
