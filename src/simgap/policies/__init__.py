"""What an agent is: the interface, and policies with explicit memory."""

from simgap.policies.agent import Agent, Episode, run_episode
from simgap.policies.belief import BeliefPolicy
from simgap.policies.checks import (
    check_lived,
    check_name,
    check_state,
    check_step,
    surely,
)
from simgap.policies.files import (
    SavedPolicy,
    load_policy,
    load_policy_and_grid,
    save_policy,
)
from simgap.policies.graph import FOREVER, NOWHERE, GraphPolicy, Pattern
from simgap.policies.grid_player import GridPlayer
from simgap.policies.interface import Policy, Step
from simgap.policies.markov import MarkovPolicy
from simgap.policies.thompson import ThompsonPolicy
from simgap.policies.window import WindowPolicy, number_of_windows

__all__ = [
    "FOREVER",
    "NOWHERE",
    "Agent",
    "BeliefPolicy",
    "Episode",
    "GraphPolicy",
    "GridPlayer",
    "MarkovPolicy",
    "Pattern",
    "Policy",
    "SavedPolicy",
    "Step",
    "ThompsonPolicy",
    "WindowPolicy",
    "check_lived",
    "check_name",
    "check_state",
    "check_step",
    "load_policy",
    "load_policy_and_grid",
    "number_of_windows",
    "run_episode",
    "save_policy",
    "surely",
]
