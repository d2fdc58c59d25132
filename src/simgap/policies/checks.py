"""What every policy refuses: steps, states and actions that do not exist."""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument, OutsideClass
from simgap.policies.interface import Step


def check_state(state: int, n_states: int) -> None:
    """Raise if there is no such state."""
    if not _whole(state) or not 0 <= state < n_states:
        raise InvalidArgument(
            f"there is no state {state!r}",
            hint=f"states are numbered 0 to {n_states - 1}",
        )


def check_step(h: int, horizon: int | None) -> None:
    """Raise if step h is not one of the episode."""
    if not _whole(h) or h < 0:
        raise InvalidArgument(f"there is no step {h!r}", hint="steps count from 0")
    if horizon is not None and h >= horizon:
        raise InvalidArgument(
            f"step {h} is beyond the horizon: the policy was made for {horizon} steps",
            hint=f"steps are numbered 0 to {horizon - 1}; plan again for longer ones",
        )


def check_lived(step: Step, horizon: int | None, n_states: int, n_actions: int) -> None:
    """Raise if a step has numbers that do not exist."""
    check_step(step.h, horizon)
    check_state(step.state, n_states)
    check_state(step.next_state, n_states)
    if not _whole(step.action) or not 0 <= step.action < n_actions:
        raise InvalidArgument(
            f"there is no action {step.action!r}",
            hint=f"actions are numbered 0 to {n_actions - 1}",
        )


def check_name(name: str) -> None:
    """Raise if a policy has no name to put in a table."""
    if not isinstance(name, str) or not name:
        raise InvalidArgument(
            f"a policy is named {name!r}", hint="give it a short name"
        )


def check_horizon(horizon: int | None) -> None:
    """Raise if a policy's horizon is not a number of steps or None."""
    if horizon is not None and (not _whole(horizon) or horizon < 0):
        raise InvalidArgument(
            f"a policy of horizon {horizon!r}", hint="give H >= 0, or None"
        )


def surely(action: int, n_actions: int) -> FloatArray:
    """Return the probabilities of actions when one of them is certain."""
    probabilities: FloatArray = np.zeros(n_actions)
    probabilities[action] = 1.0
    return probabilities


def outside(step: Step) -> OutsideClass:
    """Return the error for a step that no model with a positive prior allows."""
    return OutsideClass(
        f"at step {step.h} action {step.action} in state {step.state} led to state "
        f"{step.next_state}, which no model with a positive prior allows",
        hint="the world is not in the class: add a model that allows this step",
        step=step,
    )


def outside_at_start(state: int) -> OutsideClass:
    """Return the error for an episode that no model with a positive prior begins."""
    return OutsideClass(
        f"the episode began in state {state}, where no model with a positive prior "
        "begins",
        hint="the world is not in the class: add a model that can begin there",
    )


def _whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
