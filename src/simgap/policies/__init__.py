"""What an agent is: the interface, and policies with explicit memory."""

from simgap.policies.belief import BeliefPolicy
from simgap.policies.graph import NOWHERE, GraphPolicy, Pattern
from simgap.policies.interface import Policy, Step
from simgap.policies.markov import MarkovPolicy
from simgap.policies.thompson import ThompsonPolicy
from simgap.policies.window import WindowPolicy, number_of_windows

__all__ = [
    "NOWHERE",
    "BeliefPolicy",
    "GraphPolicy",
    "MarkovPolicy",
    "Pattern",
    "Policy",
    "Step",
    "ThompsonPolicy",
    "WindowPolicy",
    "number_of_windows",
]
