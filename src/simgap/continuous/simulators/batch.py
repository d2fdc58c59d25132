"""The door for simulators that step many worlds at once: Isaac Lab, mjlab, ManiSkill.

`make_batch(thetas)` takes `{name: (B,) array}` with a value of every parameter for each
world, and returns an object with

- `reset(seeds) -> observations`, or `observations, info`,
- `step(actions) -> observations, rewards, ended[, info]`, or five values as in
  `gymnasium.vector`, whose environments it may be,
- `action_space` (or `single_action_space`): what one world takes,
- optionally `close()`, and `set_state(observations)`, which puts the worlds there.

Arrays may be tensors. Observations may be dictionaries, whose parts follow each other.
Whether a world starts anew by itself when its episode ends does not matter: every row
runs one episode, and what comes after its end is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Box, Choices, Parameter, Space, Stepped, Worlds
from simgap.continuous.simulators.batch_arrays import (
    observations,
    of_step,
    success,
)
from simgap.continuous.simulators.declared import (
    Declared,
    checked_horizon,
    checked_returns,
    declared_parameters,
)
from simgap.continuous.simulators.delay import neutral_action
from simgap.continuous.simulators.gym_spaces import Done, done_of, seen_of
from simgap.continuous.simulators.values import checked_values
from simgap.continuous.simulators.wrapped import PlaceableWorlds
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument, SimgapError

MakeBatch = Callable[[Mapping[str, FloatArray]], Any]
PROBE = 2  # worlds that are built to look at them


def simulator_from_batch(
    make_batch: MakeBatch,
    *,
    name: str = "",
    parameters: Declared | None = None,
    horizon: int | None = None,
    returns: tuple[float, float] | None = None,
    observation: Any = None,
    action: Any = None,
) -> BatchSimulator:
    """Return the simulator of a function that builds many worlds at once.

    `parameters` are `{"mass": (low, nominal, high)}` or whole parameters. `observation`
    and `action` are spaces of one world; without them two worlds are built to see.
    """
    named = name or getattr(make_batch, "__name__", type(make_batch).__name__)
    found = declared_parameters(named, parameters, {}, lambda name: True)
    if not found:
        raise InvalidArgument(
            f"{named} has no parameters",
            hint='declare them: PARAMETERS = {"mass": (0.1, 1.0, 10.0)}',
            code="no-parameters",
        )
    if observation is None or action is None:
        observation, action = _looked_at(make_batch, found)
    return BatchSimulator(
        name=named,
        make_batch=make_batch,
        parameters=found,
        observation=_space(observation),
        done=_done(action),
        horizon=checked_horizon(horizon),
        returns=checked_returns(returns),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class BatchSimulator:
    """Worlds that a function builds together."""

    rows: ClassVar[int] = 256  # worlds that are stepped together

    name: str
    make_batch: MakeBatch
    parameters: tuple[Parameter, ...]
    observation: Space
    done: Done
    horizon: int | None
    returns: tuple[float, float] | None

    @property
    def action(self) -> Space:
        """Return what can be done."""
        return self.done.space

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return the bounds that its maker declares, for episodes of any length."""
        return self.returns

    def instantiate(self, values: Mapping[str, FloatArray]) -> Worlds:
        """Return the worlds that are built together."""
        size, every = checked_values(self, values)
        worlds = _built(self.make_batch, every)
        found = BatchWorlds(worlds, size, self.observation, self.done, self.horizon)
        put = getattr(worlds, "set_state", None)
        return (
            found if put is None else PlaceableWorlds(found, partial(found.move, put))
        )


@final
class BatchWorlds:
    """The user's worlds, read and written as arrays."""

    def __init__(
        self, inner: Any, size: int, seen: Space, done: Done, horizon: int | None
    ) -> None:
        self._inner, self._size, self._seen, self._done = inner, size, seen, done
        self._horizon, self._steps = horizon, 0
        self._restarts = _starts_anew(inner)
        self._over: BoolArray = np.zeros(size, np.bool_)  # and not started anew
        self._neutral = neutral_action(done.space, size)
        self._shown: FloatArray = np.zeros((size, seen.size))

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start an episode in each world."""
        self._begin()
        self._shown = observations(_started(self._inner, seeds), self._size, self._seen)
        return self._shown.copy()

    def move(self, put: Callable[[FloatArray], None], observations: FloatArray) -> None:
        """Put each world into the state that shows its observation."""
        self._begin()
        put(observations.copy())

    def _begin(self) -> None:
        self._steps, self._over = 0, np.zeros(self._size, np.bool_)

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step in all worlds; whatever fails breaks all that still run."""
        still = alive if isinstance(self._done.space, Choices) else alive[:, None]
        played = np.where(still, actions, self._neutral)
        self._steps += 1
        try:
            if self._over.any() and not self._restarts:
                self._inner.reset(options={"reset_mask": self._over.copy()})
            result = self._inner.step(self._done.actions(played))
            observation, reward, ended, info = of_step(result, self._size)
            shown = observations(observation, self._size, self._seen)
        except SimgapError:
            raise
        except (Exception, SystemExit) as error:
            told = what_happened(error)
            broken = dict.fromkeys(np.flatnonzero(alive).tolist(), told)
            nothing = np.zeros(self._size)
            over = np.ones(self._size, np.bool_)
            return Stepped(self._shown.copy(), nothing, over, None, broken)
        self._over = ended.copy()
        self._shown = np.where(alive[:, None], shown, self._shown)
        if self._horizon is not None and self._steps >= self._horizon:
            ended = np.ones(self._size, np.bool_)
        return Stepped(
            self._shown.copy(),
            np.where(alive, reward, 0.0),
            ended | ~alive,
            success(info, self._size),
        )

    def close(self) -> None:
        """Close the worlds, if they can be."""
        with suppress(Exception):
            self._inner.close()


def _started(inner: Any, seeds: OffsetArray) -> Any:
    """Return the first observations, of an object of the user or of Gymnasium."""
    result = (
        inner.reset(seed=seeds.tolist())
        if hasattr(inner, "single_action_space")
        else inner.reset(seeds.copy())
    )
    return result[0] if isinstance(result, tuple) and len(result) == 2 else result


def _starts_anew(inner: Any) -> bool:
    """Return whether a world whose episode is over may be stepped on."""
    mode = (getattr(inner, "metadata", None) or {}).get("autoreset_mode")
    return getattr(mode, "name", "") != "DISABLED"


def _looked_at(
    make_batch: MakeBatch, parameters: tuple[Parameter, ...]
) -> tuple[Any, Any]:
    """Return the spaces of one world, of worlds that are built for it."""
    inner = _built(make_batch, {p.name: np.full(PROBE, p.nominal) for p in parameters})
    if missing := [name for name in ("reset", "step") if not hasattr(inner, name)]:
        raise InvalidArgument(
            f"{type(inner).__name__} has no {missing[0]}",
            hint="make_batch returns an object with reset(seeds) and step(actions)",
            code="not-an-environment",
        )
    vector = hasattr(inner, "single_action_space")
    action = getattr(inner, "single_action_space" if vector else "action_space", None)
    if action is None:
        raise InvalidArgument(
            f"{type(inner).__name__} does not say what its actions are",
            hint="give it action_space, what one world takes, or declare "
            "ACTION = gymnasium.spaces.Box(-1, 1, (2,))",
            code="no-action-space",
        )
    try:
        shown = _started(inner, np.arange(PROBE))
    except (Exception, SystemExit) as error:
        raise InvalidArgument(
            f"reset fails: {what_happened(error)}",
            hint="reset takes an array of B seeds",
            code="environment-fails",
        ) from error
    width = observations(shown, PROBE, None).shape[1]
    with suppress(Exception):
        inner.close()
    seen = getattr(inner, "single_observation_space", None)
    return seen or Box(np.full(width, -np.inf), np.full(width, np.inf)), action


def _built(make_batch: MakeBatch, thetas: Mapping[str, FloatArray]) -> Any:
    try:
        return make_batch(thetas)
    except (Exception, SystemExit) as error:
        raise InvalidArgument(
            f"make_batch fails: {what_happened(error)}",
            hint="it takes {name: (B,) array} and returns B worlds",
            code="environment-not-made",
        ) from error


def _space(given: Any) -> Space:
    return given if isinstance(given, (Box, Choices)) else seen_of(given).space


def _done(given: Any) -> Done:
    from gymnasium import spaces

    if isinstance(given, Choices):
        return done_of(spaces.Discrete(given.n))
    if isinstance(given, Box):
        return done_of(spaces.Box(given.low, given.high, dtype=np.float64))
    return done_of(given)
