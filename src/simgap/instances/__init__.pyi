from simgap.instances.absorbing import (
    absorbing_doors as absorbing_doors,
    absorbing_doors_known as absorbing_doors_known,
)
from simgap.instances.bandit import (
    bandit as bandit,
    bandit_known as bandit_known,
    best_arm as best_arm,
    best_arm_known as best_arm_known,
    needle as needle,
    needle_known as needle_known,
)
from simgap.instances.catalogue import (
    CATALOGUE as CATALOGUE,
    DISCRETISE as DISCRETISE,
    GYM as GYM,
    GYM_CHOICES as GYM_CHOICES,
    Entry as Entry,
    Parameter as Parameter,
    build_instance as build_instance,
    closed_forms as closed_forms,
    is_instance_string as is_instance_string,
    names as names,
)
from simgap.instances.chain import (
    adverse as adverse,
    adverse_known as adverse_known,
    chain as chain,
    chain_known as chain_known,
    nodrift as nodrift,
    nodrift_known as nodrift_known,
)
from simgap.instances.classic_control import (
    classic_control as classic_control,
    simulator_of as simulator_of,
)
from simgap.instances.classic_physics import (
    CONTROLS as CONTROLS,
    pushed_car as pushed_car,
    pushed_cart as pushed_cart,
)
from simgap.instances.continuum import (
    Continuum as Continuum,
    continuum_of as continuum_of,
)
from simgap.instances.control_strings import (
    control_keys as control_keys,
)
from simgap.instances.cycle import (
    cycle as cycle,
    cycle_known as cycle_known,
)
from simgap.instances.grid import (
    slip_grid as slip_grid,
    slip_grid_known as slip_grid_known,
)
from simgap.instances.gym_tables import (
    ENVIRONMENTS as ENVIRONMENTS,
)
from simgap.instances.known import (
    Known as Known,
)
from simgap.instances.linear_bandit import (
    linear_bandit as linear_bandit,
    linear_bandit_known as linear_bandit_known,
)
from simgap.instances.own_environment import (
    environment_physics as environment_physics,
)
from simgap.instances.random import (
    garnet as garnet,
    garnet_known as garnet_known,
)
from simgap.instances.random_mixture import (
    garnet_mixture as garnet_mixture,
    garnet_mixture_known as garnet_mixture_known,
)
from simgap.instances.riverswim import (
    riverswim as riverswim,
    riverswim_known as riverswim_known,
)
from simgap.instances.spelling import (
    Kind as Kind,
    read_value as read_value,
)
from simgap.instances.suggestions import (
    probably_meant as probably_meant,
)
from simgap.instances.switch import (
    switch as switch,
    switch_known as switch_known,
    switch_value as switch_value,
)
from simgap.instances.switch_tree import (
    delta_for_diameter as delta_for_diameter,
    switch_tree as switch_tree,
    switch_tree_known as switch_tree_known,
)
from simgap.instances.toy_text import (
    RewardScale as RewardScale,
    StateSet as StateSet,
    Terminal as Terminal,
    toy_text as toy_text,
)
from simgap.instances.traps import (
    near_multichain as near_multichain,
    near_multichain_known as near_multichain_known,
    trap_door as trap_door,
    trap_door_known as trap_door_known,
    two_optima as two_optima,
    two_optima_known as two_optima_known,
)
from simgap.instances.windy import (
    windy_grid as windy_grid,
    windy_grid_known as windy_grid_known,
)
