"""A pendulum in NumPy, for tests of what needs a simulator and no extra.

The equations are those of the class on a grid. Hidden friction is no parameter: it is
what a simulator does not know of the real machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import Box, Parameter, Stepped
from simgap.instances.classic_physics import SPEED, TORQUE, pendulum_step

PARAMETERS = (
    Parameter("mass", 1.0, low=0.0, low_open=True, unit="kg"),
    Parameter("length", 1.0, low=0.0, low_open=True, unit="m"),
    Parameter("g", 10.0, low=0.0, unit="m/s^2"),
)


def shown(state: FloatArray) -> FloatArray:
    """Return what is seen of angles and speeds (B, 2): cos, sin, speed."""
    angle, speed = state.T
    return np.stack([np.cos(angle), np.sin(angle), speed], axis=1)


@final
class ToyWorlds:
    """Pendulums, each with its own parameters, that step together."""

    def __init__(self, theta: Mapping[str, Any], friction: float) -> None:
        self.theta, self.friction = theta, friction
        self.state: FloatArray = np.zeros((next(iter(theta.values())).size, 2))

    def reset(self, seeds: OffsetArray) -> FloatArray:
        ends = np.array([np.pi, 1.0])
        drawn = [
            np.random.default_rng(int(each)).uniform(-ends, ends) for each in seeds
        ]
        self.state = np.array(drawn)
        return shown(self.state)

    def place(self, observations: FloatArray) -> None:
        cos, sin, speed = observations.T
        self.state = np.stack([np.arctan2(sin, cos), speed], axis=1)

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        dragged = (
            self.state
            - [0.0, 0.05]
            * (self.friction * 3.0 / (self.theta["mass"] * self.theta["length"] ** 2))[
                :, None
            ]
            * self.state
        )
        moved = pendulum_step(self.theta, dragged, actions[:, 0])
        self.state = moved.state
        return Stepped(shown(self.state), moved.reward, np.zeros(alive.size, np.bool_))

    def close(self) -> None:
        """Hold nothing."""


@final
@dataclass(frozen=True, slots=True)
class ToyPendulum:
    """Pendulum-v1 without Gymnasium and JAX, with a friction nobody can set."""

    friction: float = 0.0
    name: str = "toy-pendulum"
    parameters: tuple[Parameter, ...] = PARAMETERS
    horizon: int | None = 200
    seconds: float | None = None  # that a step takes, if it says so

    @property
    def observation(self) -> Box:
        ends = np.array([1.0, 1.0, SPEED])
        return Box(-ends, ends)

    @property
    def action(self) -> Box:
        return Box(np.array([-TORQUE]), np.array([TORQUE]))

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        return None

    def instantiate(self, values: Mapping[str, FloatArray]) -> ToyWorlds:
        size = next((each.size for each in values.values()), 1)
        nominal = {each.name: np.full(size, each.nominal) for each in PARAMETERS}
        return ToyWorlds({**nominal, **values}, self.friction)
