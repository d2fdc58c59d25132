"""Gymnasium's own simulators with the parameters of a model of a table."""

from __future__ import annotations

from typing import Any

import gymnasium

from simgap.instances.classic_physics import control
from simgap.mdp import Discretisation


def true_environment(table: Discretisation, member: int) -> Any:
    """Return the Gymnasium environment of one model, without a limit of time."""
    known = control(table.physics.name)
    env = gymnasium.make(
        known.gym_id, max_episode_steps=-1, disable_env_checker=True
    )  # -1 leaves the time limit out: episodes are as long as the caller's horizon
    inner: Any = env.unwrapped
    theta = table.thetas[table.simulators.member(member)]
    for name, parameter in known.parameters.items():
        setattr(inner, parameter.attribute, theta[name])
    known.derived(inner)
    return env
