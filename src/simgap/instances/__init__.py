"""Simulator classes by name, each with its closed forms."""

from simgap.instances.absorbing import absorbing_doors, absorbing_doors_known
from simgap.instances.bandit import (
    bandit,
    bandit_known,
    best_arm,
    best_arm_known,
    needle,
    needle_known,
)
from simgap.instances.catalogue import (
    CATALOGUE,
    DISCRETISE,
    GYM,
    GYM_CHOICES,
    Entry,
    Parameter,
    build_instance,
    closed_forms,
    is_instance_string,
    names,
)
from simgap.instances.chain import (
    adverse,
    adverse_known,
    chain,
    chain_known,
    nodrift,
    nodrift_known,
)
from simgap.instances.classic_control import classic_control, simulator_of
from simgap.instances.classic_physics import CONTROLS, pushed_car, pushed_cart
from simgap.instances.continuum import Continuum, continuum_of
from simgap.instances.control_strings import control_keys
from simgap.instances.cycle import cycle, cycle_known
from simgap.instances.grid import slip_grid, slip_grid_known
from simgap.instances.gym_tables import ENVIRONMENTS
from simgap.instances.known import Known
from simgap.instances.linear_bandit import linear_bandit, linear_bandit_known
from simgap.instances.own_environment import environment_physics
from simgap.instances.random import garnet, garnet_known
from simgap.instances.random_mixture import garnet_mixture, garnet_mixture_known
from simgap.instances.riverswim import riverswim, riverswim_known
from simgap.instances.spelling import Kind, read_value
from simgap.instances.suggestions import probably_meant
from simgap.instances.switch import switch, switch_known, switch_value
from simgap.instances.switch_tree import (
    delta_for_diameter,
    switch_tree,
    switch_tree_known,
)
from simgap.instances.toy_text import RewardScale, StateSet, Terminal, toy_text
from simgap.instances.traps import (
    near_multichain,
    near_multichain_known,
    trap_door,
    trap_door_known,
    two_optima,
    two_optima_known,
)
from simgap.instances.windy import windy_grid, windy_grid_known

__all__ = [
    "CATALOGUE",
    "CONTROLS",
    "DISCRETISE",
    "ENVIRONMENTS",
    "GYM",
    "GYM_CHOICES",
    "Continuum",
    "Entry",
    "Kind",
    "Known",
    "Parameter",
    "RewardScale",
    "StateSet",
    "Terminal",
    "absorbing_doors",
    "absorbing_doors_known",
    "adverse",
    "adverse_known",
    "bandit",
    "bandit_known",
    "best_arm",
    "best_arm_known",
    "build_instance",
    "chain",
    "chain_known",
    "classic_control",
    "closed_forms",
    "continuum_of",
    "control_keys",
    "cycle",
    "cycle_known",
    "delta_for_diameter",
    "environment_physics",
    "garnet",
    "garnet_known",
    "garnet_mixture",
    "garnet_mixture_known",
    "is_instance_string",
    "linear_bandit",
    "linear_bandit_known",
    "names",
    "near_multichain",
    "near_multichain_known",
    "needle",
    "needle_known",
    "nodrift",
    "nodrift_known",
    "probably_meant",
    "pushed_car",
    "pushed_cart",
    "read_value",
    "riverswim",
    "riverswim_known",
    "simulator_of",
    "slip_grid",
    "slip_grid_known",
    "switch",
    "switch_known",
    "switch_tree",
    "switch_tree_known",
    "switch_value",
    "toy_text",
    "trap_door",
    "trap_door_known",
    "two_optima",
    "two_optima_known",
    "windy_grid",
    "windy_grid_known",
]
