"""Two policies for `arm.py`: one for the nominal load, one that is told the load."""

import numpy as np

GRAVITY, ARM, UPPER, LOAD, GEAR = 9.81, 0.4, 1.0, 0.3, 8.0


def torque(observation, load, gear):
    """Return what holds the arm against its weight, and drives it to level."""
    sine, cosine, speed = observation
    weight = GRAVITY * ARM * (0.5 * UPPER + load) * cosine
    push = (-weight - 6.0 * sine - 1.5 * speed) / gear
    return np.array([np.clip(push, -1.0, 1.0)])


def hold(observation, memory):
    return torque(observation, LOAD, GEAR), memory


def told(observation, memory, theta):
    load = theta.get("body.load.mass", LOAD)
    return torque(observation, load, theta.get("actuator.motor.gear", GEAR)), memory
