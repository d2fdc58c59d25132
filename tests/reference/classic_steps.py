"""The steps of classic control as the tables were first built: NumPy alone, (n, d)."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

FALLEN = 12 * 2 * pi / 360


def pendulum(theta: Any, state: Any, action: Any) -> tuple[Any, Any, Any]:
    g, m, length, dt = theta["g"], theta["mass"], theta["length"], 0.05
    angle, speed = state[:, 0], state[:, 1]
    u = np.clip(action, -2.0, 2.0)
    wrapped = np.mod(angle + pi, 2 * pi) - pi
    cost = wrapped**2 + 0.1 * speed**2 + 0.001 * u**2
    pull = 3 * g / (2 * length) * np.sin(angle) + 3.0 / (m * length**2) * u
    faster = np.clip(speed + pull * dt, -8.0, 8.0)
    after = np.stack([angle + faster * dt, faster], axis=1)
    return after, -cost, np.zeros(len(state), np.bool_)


def mountain_car(theta: Any, state: Any, action: Any) -> tuple[Any, Any, Any]:
    position, velocity = state[:, 0], state[:, 1]
    push = (action - 1.0) * theta["force"]
    velocity = velocity + (push + np.cos(3 * position) * (-theta["gravity"]))
    velocity = np.clip(velocity, -0.07, 0.07)
    position = np.clip(position + velocity, -1.2, 0.6)
    velocity = np.where((position == -1.2) & (velocity < 0.0), 0.0, velocity)
    after = np.stack([position, velocity], axis=1)
    ended = (position >= 0.5) & (velocity >= 0.0)
    return after, np.full(len(state), -1.0), ended


def cart_pole(theta: Any, state: Any, action: Any) -> tuple[Any, Any, Any]:
    dt = 0.02
    total = theta["masspole"] + theta["masscart"]
    moment = theta["masspole"] * theta["length"]
    _, x_dot, angle, turning = state.T
    force = np.where(action == 1.0, theta["force_mag"], -theta["force_mag"])
    cos, sin = np.cos(angle), np.sin(angle)
    temp = (force + moment * np.square(turning) * sin) / total
    angle_acc = (theta["gravity"] * sin - cos * temp) / (
        theta["length"] * (4.0 / 3.0 - theta["masspole"] * np.square(cos) / total)
    )
    x_acc = temp - moment * angle_acc * cos / total
    moved = (dt * x_dot, dt * x_acc, dt * turning, dt * angle_acc)
    after = state + np.stack(moved, axis=1)
    ended = (np.abs(after[:, 0]) > 2.4) | (np.abs(after[:, 2]) > FALLEN)
    return after, np.ones(len(state)), ended


STEPS = {
    "Pendulum-v1": pendulum,
    "MountainCar-v0": mountain_car,
    "CartPole-v1": cart_pole,
}
