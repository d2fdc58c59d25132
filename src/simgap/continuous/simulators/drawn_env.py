"""A simulator as an environment of Gymnasium that draws its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.interfaces import Choices, Simulator, Space, Worlds
from simgap.continuous.policies.actions import to_actions


class Draws(Protocol):
    """What episodes draw."""

    @property
    def seed(self) -> int: ...

    @property
    def horizon(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def draw(self, seed: int, episodes: OffsetArray) -> FloatArray: ...

    def values(self, theta: FloatArray) -> Mapping[str, FloatArray]: ...

    def seeds(self, seed: int, episodes: OffsetArray) -> OffsetArray: ...


class DrawnEnv(gymnasium.Env):  # type: ignore[misc] # Gymnasium is not read here
    """Every episode is a world of its own, whose parameters `info` tells.

    Episode k of environment i of n is episode i + k n of all that the sampler draws.
    With a seed, `reset` begins with the first one again, drawn with that seed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, simulator: Simulator, draws: Draws, number: int, of: int):
        self._simulator, self._draws = simulator, draws
        self._first, self._of = number, of
        self._seed, self._episode = draws.seed, number
        self._worlds: Worlds | None = None
        self._steps, self._seen = 0, np.empty(0)
        self.observation_space = _space(simulator.observation)
        self.action_space = _space(simulator.action)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode, in a new world."""
        super().reset(seed=seed)
        self.close()
        if seed is not None:
            self._seed, self._episode = seed, self._first
        episode = np.array([self._episode])
        theta = self._draws.draw(self._seed, episode)
        self._worlds = self._simulator.instantiate(self._draws.values(theta))
        self._episode += self._of
        self._steps = 0
        self._seen = self._worlds.reset(self._draws.seeds(self._seed, episode))[0]
        named = dict(zip(self._draws.names, theta[0].tolist(), strict=True))
        return self._shown(), {"theta": named}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make one step; an episode that breaks is over."""
        if self._worlds is None:
            raise gymnasium.error.ResetNeeded("call reset() first")
        given = np.asarray(action, np.float64)[None]
        actions, _ = to_actions(given, self._simulator.action)
        after = self._worlds.step(actions, np.ones(1, np.bool_))
        self._steps += 1
        reward, seen = float(after.reward[0]), after.observation[0]
        broken = bool(after.broken) or not np.isfinite([reward, *seen]).all()
        if not broken:
            self._seen = seen
        cut = self._steps >= self._draws.horizon
        over = broken or (bool(after.ended[0]) and not cut)
        info = {"broken": after.broken.get(0, "not finite")} if broken else {}
        return self._shown(), 0.0 if broken else reward, over, cut and not over, info

    def close(self) -> None:
        """Give back the world."""
        if self._worlds is not None:
            self._worlds.close()
            self._worlds = None

    def _shown(self) -> Any:
        if isinstance(self._simulator.observation, Choices):
            return int(self._seen[0])
        return self._seen.astype(np.float32)


def _space(space: Space) -> Any:
    if isinstance(space, Choices):
        return gymnasium.spaces.Discrete(space.n)
    low, high = (each.astype(np.float32) for each in (space.low, space.high))
    return gymnasium.spaces.Box(low, high, dtype=np.float32)
