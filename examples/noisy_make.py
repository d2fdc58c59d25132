"""Your own simulator: a cart that a gust of wind pushes, as `make(**theta)`.

    simgap check examples/noisy_make.py:make --policy examples/noisy_make.py:brake \
        --randomize "mass=0.5..8 wind=0..1"
    simgap transfer examples/noisy_make.py:make --policy examples/noisy_make.py:brake \
        --reference examples/noisy_make.py:told --randomize "mass=0.5..8 wind=0..1" \
        --out gusts

The numbers among the defaults of `make` are the parameters and their nominal values.
"""

import gymnasium
import numpy as np

PARAMETERS = {"mass": (0.1, 20.0), "wind": (0.0, 2.0)}  # what makes sense at all
RETURNS = (-100.0, 0.0)  # what a return certainly lies between
HORIZON = 100  # steps of an episode


class Cart(gymnasium.Env):
    """Stay at 0: a step costs at most 1."""

    def __init__(self, mass, wind):
        self.mass, self.wind = mass, wind
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)  # all noise comes from self.np_random: runs repeat
        self.place, self.speed = self.np_random.uniform(-2.0, 2.0), 0.0
        return self._seen(), {}

    def step(self, action):
        gust = self.wind * self.np_random.normal()
        self.speed += 0.1 * (4.0 * float(action[0]) + gust) / self.mass
        self.place += 0.1 * self.speed
        cost = min(1.0, self.place**2 + 0.1 * self.speed**2)
        return self._seen(), -cost, False, False, {}

    def _seen(self):
        noise = self.np_random.normal(0.0, 0.02, 2)
        return (np.array([self.place, self.speed]) + noise).astype(np.float32)


def make(mass=1.0, wind=0.2):
    return Cart(mass, wind)


def brake(observation, memory):
    """A policy: the observation of one world -> the action, and no memory."""
    return np.clip(-observation[:1] - 0.3 * observation[1:], -1.0, 1.0), memory


def told(observation, memory, theta):
    """A reference that is told the parameters: brake as the mass needs it."""
    push = -observation[:1] - 0.7 * np.sqrt(theta["mass"]) * observation[1:]
    return np.clip(push, -1.0, 1.0), memory
