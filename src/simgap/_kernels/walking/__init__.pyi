from simgap._kernels.walking.alias import (
    fill_aliases as fill_aliases,
)
from simgap._kernels.walking.endings import (
    Tails as Tails,
    lose_most as lose_most,
    stored_left as stored_left,
)
from simgap._kernels.walking.streams import (
    episode_keys as episode_keys,
    mixed as mixed,
    uniform as uniform,
)
from simgap._kernels.walking.walk import (
    STATE as STATE,
    Record as Record,
    Run as Run,
    World as World,
    begin as begin,
    finish as finish,
    new_run as new_run,
    step_with as step_with,
)
