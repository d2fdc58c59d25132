from simgap.instances.absorbing import (
    absorbing_doors as absorbing_doors,
)
from simgap.instances.absorbing import (
    absorbing_doors_known as absorbing_doors_known,
)
from simgap.instances.bandit import (
    bandit as bandit,
)
from simgap.instances.bandit import (
    bandit_known as bandit_known,
)
from simgap.instances.bandit import (
    best_arm as best_arm,
)
from simgap.instances.bandit import (
    best_arm_known as best_arm_known,
)
from simgap.instances.bandit import (
    needle as needle,
)
from simgap.instances.bandit import (
    needle_known as needle_known,
)
from simgap.instances.catalogue import (
    CATALOGUE as CATALOGUE,
)
from simgap.instances.catalogue import (
    DISCRETISE as DISCRETISE,
)
from simgap.instances.catalogue import (
    GYM as GYM,
)
from simgap.instances.catalogue import (
    GYM_CHOICES as GYM_CHOICES,
)
from simgap.instances.catalogue import (
    Entry as Entry,
)
from simgap.instances.catalogue import (
    Parameter as Parameter,
)
from simgap.instances.catalogue import (
    build_instance as build_instance,
)
from simgap.instances.catalogue import (
    closed_forms as closed_forms,
)
from simgap.instances.catalogue import (
    is_instance_string as is_instance_string,
)
from simgap.instances.catalogue import (
    names as names,
)
from simgap.instances.chain import (
    adverse as adverse,
)
from simgap.instances.chain import (
    adverse_known as adverse_known,
)
from simgap.instances.chain import (
    chain as chain,
)
from simgap.instances.chain import (
    chain_known as chain_known,
)
from simgap.instances.chain import (
    nodrift as nodrift,
)
from simgap.instances.chain import (
    nodrift_known as nodrift_known,
)
from simgap.instances.classic_control import (
    classic_control as classic_control,
)
from simgap.instances.classic_control import (
    simulator_of as simulator_of,
)
from simgap.instances.classic_physics import (
    CONTROLS as CONTROLS,
)
from simgap.instances.continuum import (
    Continuum as Continuum,
)
from simgap.instances.continuum import (
    continuum_of as continuum_of,
)
from simgap.instances.control_strings import (
    control_keys as control_keys,
)
from simgap.instances.cycle import (
    cycle as cycle,
)
from simgap.instances.cycle import (
    cycle_known as cycle_known,
)
from simgap.instances.grid import (
    slip_grid as slip_grid,
)
from simgap.instances.grid import (
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
)
from simgap.instances.linear_bandit import (
    linear_bandit_known as linear_bandit_known,
)
from simgap.instances.own_environment import (
    environment_physics as environment_physics,
)
from simgap.instances.random import (
    garnet as garnet,
)
from simgap.instances.random import (
    garnet_known as garnet_known,
)
from simgap.instances.random_mixture import (
    garnet_mixture as garnet_mixture,
)
from simgap.instances.random_mixture import (
    garnet_mixture_known as garnet_mixture_known,
)
from simgap.instances.riverswim import (
    riverswim as riverswim,
)
from simgap.instances.riverswim import (
    riverswim_known as riverswim_known,
)
from simgap.instances.seen_on_grid import (
    SeenOnGrid as SeenOnGrid,
)
from simgap.instances.seen_on_grid import (
    true_environment as true_environment,
)
from simgap.instances.spelling import (
    Kind as Kind,
)
from simgap.instances.spelling import (
    read_value as read_value,
)
from simgap.instances.suggestions import (
    probably_meant as probably_meant,
)
from simgap.instances.switch import (
    switch as switch,
)
from simgap.instances.switch import (
    switch_known as switch_known,
)
from simgap.instances.switch import (
    switch_value as switch_value,
)
from simgap.instances.switch_tree import (
    delta_for_diameter as delta_for_diameter,
)
from simgap.instances.switch_tree import (
    switch_tree as switch_tree,
)
from simgap.instances.switch_tree import (
    switch_tree_known as switch_tree_known,
)
from simgap.instances.toy_text import (
    RewardScale as RewardScale,
)
from simgap.instances.toy_text import (
    StateSet as StateSet,
)
from simgap.instances.toy_text import (
    Terminal as Terminal,
)
from simgap.instances.toy_text import (
    toy_text as toy_text,
)
from simgap.instances.traps import (
    near_multichain as near_multichain,
)
from simgap.instances.traps import (
    near_multichain_known as near_multichain_known,
)
from simgap.instances.traps import (
    trap_door as trap_door,
)
from simgap.instances.traps import (
    trap_door_known as trap_door_known,
)
from simgap.instances.traps import (
    two_optima as two_optima,
)
from simgap.instances.traps import (
    two_optima_known as two_optima_known,
)
from simgap.instances.windy import (
    windy_grid as windy_grid,
)
from simgap.instances.windy import (
    windy_grid_known as windy_grid_known,
)
