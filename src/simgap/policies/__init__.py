"""What an agent is: the interface, and policies with explicit memory."""

from simgap.policies.agent import Agent, Episode, run_episode
from simgap.policies.belief import BeliefPolicy
from simgap.policies.files import SavedPolicy, load_policy, save_policy
from simgap.policies.graph import NOWHERE, GraphPolicy, Pattern
from simgap.policies.grid_player import GridPlayer
from simgap.policies.interface import Policy, Step
from simgap.policies.markov import MarkovPolicy
from simgap.policies.thompson import ThompsonPolicy
from simgap.policies.window import WindowPolicy, number_of_windows

__all__ = [
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
    "load_policy",
    "number_of_windows",
    "run_episode",
    "save_policy",
]
