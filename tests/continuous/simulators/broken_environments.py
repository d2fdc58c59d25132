"""Environments that are wrong in one way each: refused at once, or broken later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Space, Text

LINE = Box(-1.0, 1.0, (2,), np.float64)


class Fine(gymnasium.Env[Any, Any]):  # type: ignore[misc]
    """A point that is pushed; everything about it is right."""

    observation_space: Space[Any] = Box(-np.inf, np.inf, (2,), np.float64)
    action_space: Space[Any] = LINE

    def __init__(self, mass: float = 1.0) -> None:
        self.mass, self.at, self.count = mass, np.zeros(2), 0

    def seen(self) -> Any:
        return self.at

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.count = self.np_random.normal(size=2), 0
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        self.at = self.at + action / self.mass
        self.count += 1
        return self.seen(), -float(self.at @ self.at), False, False, {}


def fine(**changed: Any) -> Callable[..., Any]:
    """Return a factory of environments with some names replaced."""
    kind = type("Changed", (Fine,), changed)

    def make(mass: float = 1.0) -> Any:
        return kind(mass)

    return make


def failing(*_: Any, **__: Any) -> Any:
    raise RuntimeError("the motor burnt")


def of_step(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a `step` that returns something else."""

    def step(self: Any, action: Any) -> Any:
        return change(self, Fine.step(self, action))

    return step


def late(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a `step` that is right once, and then does something else."""
    return of_step(lambda env, result: result if env.count < 2 else change(env, result))


def _nan_at(place: int) -> Callable[[Any, Any], Any]:
    def change(env: Any, result: Any) -> Any:
        parts = list(result)
        parts[place] = parts[place] * np.nan
        return tuple(parts)

    return change


def _reward(value: Any) -> Callable[[Any, Any], Any]:
    return lambda env, result: (result[0], value, *result[2:])


def _shown(value: Any) -> Callable[[Any, Any], Any]:
    return lambda env, result: (value, *result[1:])


def no_seed(self: Any) -> Any:
    return np.zeros(2), {}


def no_environment(mass: float = 1.0) -> Any:
    return {"mass": mass}


def nothing(mass: float = 1.0) -> None:
    return None


def no_default(mass: float) -> Any:
    return Fine(mass)


def leaves(*_: Any) -> Any:
    raise SystemExit(3)


# kind -> a factory that cannot be used at all, and the code of the refusal
REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "make raises": (failing, "environment-not-made"),
    "make needs what nobody declares": (no_default, "environment-not-made"),
    "make returns a dictionary": (no_environment, "not-an-environment"),
    "make returns nothing": (nothing, "not-an-environment"),
    "reset raises": (fine(reset=failing), "environment-fails"),
    "reset takes no seed": (fine(reset=no_seed), "reset-without-seed"),
    "reset returns an observation alone": (
        fine(reset=lambda self, seed=None: np.zeros(2)),
        "reset-result",
    ),
    "reset shows three numbers": (
        fine(reset=lambda self, seed=None: (np.zeros(3), {})),
        "observation-shape",
    ),
    "reset shows nan": (
        fine(reset=lambda self, seed=None: (np.full(2, np.nan), {})),
        "observation-not-finite",
    ),
    "step raises": (fine(step=failing), "environment-fails"),
    "step leaves the program": (fine(step=leaves), "environment-fails"),
    "step returns four values": (
        fine(step=of_step(lambda env, result: result[:4])),
        "step-result",
    ),
    "step returns nothing": (
        fine(step=of_step(lambda env, result: None)),
        "step-result",
    ),
    "step shows text": (fine(step=of_step(_shown("here"))), "observation-shape"),
    "step shows a table": (
        fine(step=of_step(_shown(np.zeros((2, 2))))),
        "observation-shape",
    ),
    "step shows nan": (fine(step=of_step(_nan_at(0))), "observation-not-finite"),
    "reward is nan": (fine(step=of_step(_nan_at(1))), "reward-not-finite"),
    "reward is nothing": (fine(step=of_step(_reward(None))), "reward-not-finite"),
    "reward is text": (fine(step=of_step(_reward("good"))), "reward-not-a-number"),
    "reward is two numbers": (
        fine(step=of_step(_reward(np.zeros(2)))),
        "reward-not-a-number",
    ),
    "actions of several choices": (
        fine(action_space=MultiDiscrete([2, 2])),
        "action-space",
    ),
    "actions in a dictionary": (
        fine(action_space=Dict({"left": Discrete(2)})),
        "action-space",
    ),
    "observations are text": (fine(observation_space=Text(5)), "observation-space"),
    "a dictionary lacks a part": (
        fine(
            observation_space=Dict({"at": LINE, "speed": LINE}),
            seen=lambda self: {"at": self.at},
        ),
        "observation-shape",
    ),
}

# kind -> a factory whose second step is wrong, and what is told of it
BROKEN: dict[str, tuple[Callable[..., Any], str]] = {
    "step raises": (fine(step=late(failing)), "RuntimeError: the motor burnt"),
    "step leaves the program": (fine(step=late(leaves)), "SystemExit: 3"),
    "step returns four values": (
        fine(step=late(lambda env, result: result[:4])),
        "a tuple of 4",
    ),
    "step shows three numbers": (
        fine(step=late(_shown(np.zeros(3)))),
        "shape (3,)",
    ),
    "reward is text": (fine(step=late(_reward("good"))), "good"),
}
