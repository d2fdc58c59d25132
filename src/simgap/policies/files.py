"""Policies from files; `save_policy` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simgap.errors import InvalidFile, SimgapError
from simgap.interop import (
    SPARE,
    StoredPolicy,
    read_policy,
    save_policy,
)
from simgap.mdp import GridOrigin
from simgap.policies.belief import BeliefPolicy
from simgap.policies.graph import GraphPolicy, Pattern
from simgap.policies.markov import MarkovPolicy
from simgap.policies.thompson import ThompsonPolicy
from simgap.policies.window import WindowPolicy

__all__ = ["SavedPolicy", "load_policy", "load_policy_and_grid", "save_policy"]

SavedPolicy = GraphPolicy | BeliefPolicy | ThompsonPolicy | MarkovPolicy | WindowPolicy


def load_policy(path: str | Path) -> SavedPolicy:
    """Return the policy of a file; nothing in the file is trusted."""
    return load_policy_and_grid(path)[0]


def load_policy_and_grid(
    path: str | Path,
) -> tuple[SavedPolicy, GridOrigin | None]:
    """Return the policy of a file, and the grid that its states are nodes of, if any.

    `GridPlayer` plays the two in the simulator.
    """
    stored = read_policy(path)
    try:
        grid = stored.grid
        if grid is not None:
            grid.check(stored.description.states)
        return ASSEMBLE[stored.description.kind](stored), grid
    except SimgapError as error:
        raise InvalidFile(f"{path}: {error.problem}", hint=error.hint) from error


def _pattern(stored: StoredPolicy) -> Pattern:
    sizes, arrays = stored.description, stored.arrays
    return Pattern(sizes.states, sizes.actions, arrays["indptr"], arrays["indices"])


def _graph(stored: StoredPolicy) -> GraphPolicy:
    about, arrays = stored.description, stored.arrays
    return GraphPolicy(
        about.name,
        _pattern(stored),
        about.horizon,
        arrays["node_state"],
        arrays["start_node"],
        arrays["rule_offsets"],
        arrays["rule_since"],
        arrays["rule_until"],
        arrays["rule_action"],
        arrays["next_offsets"],
        arrays["next_node"],
        fallback=_belief(stored, about.fallback, SPARE) if about.fallback else None,
    )


def _belief(stored: StoredPolicy, name: str = "", prefix: str = "") -> BeliefPolicy:
    about, arrays = stored.description, stored.arrays
    return BeliefPolicy(
        name or about.name,
        _pattern(stored),
        about.horizon,
        about.discount,
        arrays[f"{prefix}prior"],
        arrays[f"{prefix}start_law"],
        arrays[f"{prefix}likelihood"],
        arrays[f"{prefix}losses"],
        arrays[f"{prefix}vector_set"],
        arrays[f"{prefix}vector_offsets"],
        arrays[f"{prefix}vectors"],
    )


def _thompson(stored: StoredPolicy) -> ThompsonPolicy:
    about, arrays = stored.description, stored.arrays
    return ThompsonPolicy(
        about.name,
        _pattern(stored),
        about.horizon,
        about.discount,
        arrays["prior"],
        arrays["start_law"],
        arrays["likelihood"],
        arrays["losses"],
    )


def _markov(stored: StoredPolicy) -> MarkovPolicy:
    about = stored.description
    policy = MarkovPolicy(about.name, about.actions, stored.arrays["table"])
    if (policy.n_states, policy.horizon) != (about.states, about.horizon):
        raise InvalidFile(
            f"a table of shape {policy.table.shape} for {about.states} states and "
            f"horizon {about.horizon}",
            hint="save the policy again",
        )
    return policy


def _window(stored: StoredPolicy) -> WindowPolicy:
    about = stored.description
    return WindowPolicy(
        about.name,
        about.states,
        about.actions,
        about.length,
        about.horizon,
        stored.arrays["actions"],
    )


ASSEMBLE: dict[str, Callable[[StoredPolicy], SavedPolicy]] = {
    "GraphPolicy": _graph,
    "BeliefPolicy": _belief,
    "ThompsonPolicy": _thompson,
    "MarkovPolicy": _markov,
    "WindowPolicy": _window,
}
