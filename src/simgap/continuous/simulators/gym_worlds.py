"""Worlds that are Gymnasium environments, one for each row, stepped one by one.

An environment is made once and used for all episodes of its row. What one of them does
wrong costs its own episode: it is told in `Stepped.broken`, the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Stepped, Worlds
from simgap.continuous.simulators.gym_spaces import Done, Seen
from simgap.continuous.simulators.wrapped import PlaceableWorlds
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument, SimgapError

Put = Callable[[Any, FloatArray], None]  # puts an environment where it shows (O,)
SUCCESS = ("is_success", "success")  # in the info of a step


class _OneStep(NamedTuple):
    observation: FloatArray  # (O,)
    reward: float
    ended: bool
    success: bool | None


def gym_worlds(
    environments: Sequence[Any],
    seen: Seen,
    done: Done,
    *,
    horizon: int | None = None,
    put: Put | None = None,
    failed: Mapping[int, str] | None = None,
) -> Worlds:
    """Return worlds of environments; rows that could not be made are in `failed`."""
    worlds = GymWorlds(environments, seen, done, horizon, failed or {})
    return worlds if put is None else PlaceableWorlds(worlds, partial(worlds.move, put))


def started(env: Any, seed: int, seen: Seen) -> FloatArray:
    """Return the first observation of an episode, or refuse what `reset` returns."""
    result = env.reset(seed=seed)
    if not (isinstance(result, tuple) and len(result) == 2):
        raise InvalidArgument(
            f"reset returns {_told(result)}, not an observation and a dictionary",
            hint="return observation, {}",
            code="reset-result",
        )
    return seen.numbers(result[0])


def stepped(env: Any, action: Any, seen: Seen) -> _OneStep:
    """Return what one step leads to, or refuse what `step` returns."""
    result = env.step(action)
    if not (isinstance(result, tuple) and len(result) == 5):
        raise InvalidArgument(
            f"step returns {_told(result)}, not five values",
            hint="return observation, reward, terminated, truncated, info",
            code="step-result",
        )
    observation, reward, terminated, truncated, info = result
    paid = reward if type(reward) is float else _number(reward)
    ended = bool(terminated) or bool(truncated)
    return _OneStep(seen.numbers(observation), paid, ended, _success(info))


@final
class GymWorlds:
    """One environment per row."""

    def __init__(
        self,
        environments: Sequence[Any],
        seen: Seen,
        done: Done,
        horizon: int | None,
        failed: Mapping[int, str],
    ) -> None:
        self._environments, self._seen, self._done = list(environments), seen, done
        self._horizon, self._not_made = horizon, failed
        self._not_started: dict[int, str] = {}
        self._shown: FloatArray = np.zeros((len(environments), seen.space.size))
        self._says_success = False
        self._steps = 0

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start an episode in each environment.

        One that fails here shows zeros, and its episode breaks at its first step.
        """
        self._steps, self._not_started = 0, dict(self._not_made)
        for row, seed in enumerate(seeds.tolist()):
            if row in self._not_made:
                self._shown[row] = 0.0
                continue
            try:
                self._shown[row] = started(self._environments[row], seed, self._seen)
            except (Exception, SystemExit) as error:
                self._shown[row] = 0.0
                self._not_started[row] = f"reset failed: {_problem(error)}"
        return self._shown.copy()

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step in each environment whose episode still runs."""
        size = len(self._environments)
        reward, ended = np.zeros(size), ~alive
        success: BoolArray = np.zeros(size, np.bool_)
        broken: dict[int, str] = {}
        self._steps += 1
        over = self._horizon is not None and self._steps >= self._horizon
        running = alive if actions.ndim == 1 else alive[:, None]
        played = self._done.actions(np.where(running, actions, 0.0))
        for row in np.flatnonzero(alive).tolist():
            if row in self._not_started:
                broken[row], ended[row] = self._not_started[row], True
                continue
            try:
                after = stepped(self._environments[row], played[row], self._seen)
            except (Exception, SystemExit) as error:
                broken[row], ended[row] = _problem(error), True
                continue
            self._shown[row], reward[row] = after.observation, after.reward
            ended[row] = after.ended or over
            if after.success is not None:
                self._says_success, success[row] = True, after.success
        told = success if self._says_success else None
        return Stepped(self._shown.copy(), reward, ended, told, broken)

    def close(self) -> None:
        """Close the environments."""
        for env in self._environments:
            with suppress(Exception):
                env.close()

    def move(self, put: Put, observations: FloatArray) -> None:
        """Put each environment into the state that shows its observation."""
        for row, (env, shown) in enumerate(
            zip(self._environments, observations, strict=True)
        ):
            if row not in self._not_made:
                env.reset(seed=row)  # limits of time start anew, noise is its own
                put(env, shown.copy())
        self._steps, self._not_started = 0, dict(self._not_made)
        self._shown = observations.copy()


def _number(reward: Any) -> float:
    try:
        paid = np.asarray(reward, np.float64)
    except (TypeError, ValueError):
        paid = np.zeros(0)
    if paid.size != 1:
        raise InvalidArgument(
            f"the reward is {str(reward)[:80]}, not one number",
            hint="step returns observation, reward, terminated, truncated, info",
            code="reward-not-a-number",
        )
    return float(paid.item())


def _success(info: Any) -> bool | None:
    if info and isinstance(info, Mapping):
        for key in SUCCESS:
            if (said := info.get(key)) is not None:
                return _yes_or_no(key, said)
    return None


def _yes_or_no(key: str, said: Any) -> bool:
    """Return what an environment says of success: a flag, 0 or 1."""
    flag = np.asarray(said)
    if flag.size != 1 or flag.dtype.kind not in "biuf" or flag.item() not in (0, 1):
        raise InvalidArgument(
            f"info[{key!r}] is {str(said)[:80]!r}, not True or False",
            hint="leave it out where success is not known",
            code="success-not-a-flag",
        )
    return bool(flag.item())


def _problem(error: BaseException) -> str:
    return error.problem if isinstance(error, SimgapError) else what_happened(error)


def _told(result: Any) -> str:
    if isinstance(result, tuple):
        return f"a tuple of {len(result)}"
    return f"a value of type {type(result).__name__}"
