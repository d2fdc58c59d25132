"""The door `gym:ENV_ID`: any registered Gymnasium environment, its numbers as theta.

`gym:FrozenLake-v1?map_name=8x8` gives the constructor an argument that stays. Numbers
of the constructor are set by making the environment with them; attributes are set on
the innermost environment, what is computed from them follows, and they are read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Parameter, Space, Worlds
from simgap.continuous.simulators.gym_known import Known, known_of
from simgap.continuous.simulators.gym_parameters import (
    Argument,
    Way,
    arguments,
    attributes,
    computed_from,
)
from simgap.continuous.simulators.gym_probe import probed
from simgap.continuous.simulators.gym_spaces import Done, Seen
from simgap.continuous.simulators.gym_worlds import gym_worlds
from simgap.continuous.simulators.values import checked_values
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument, SimgapError
from simgap.text import nearest, number, shown

_WORDS = {"true": True, "false": False, "none": None}


def open_gym(text: str) -> GymSimulator:
    """Return the simulator of `ENV_ID` or `ENV_ID?argument=value&...`."""
    gym_id, _, query = text.partition("?")
    fixed = _fixed(query)
    env = _made(gym_id, fixed)
    seen, done = probed(env)
    fresh = _made(gym_id, fixed).unwrapped
    known = known_of(fresh)
    ways = _ways(fresh, {**(env.spec.kwargs if env.spec else {}), **fixed}, known)
    limit = env.spec.max_episode_steps if env.spec else None
    wrapped = bool(env.spec and env.spec.additional_wrappers)
    env.close()
    return GymSimulator(
        name=f"gym:{text}",
        gym_id=gym_id,
        fixed=fixed,
        ways=ways,
        known=known,
        bound=computed_from(type(fresh)),
        seen=seen,
        done=done,
        horizon=limit,
        pays_as_known=not wrapped and not any(each in fixed for each in known.rewards),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class GymSimulator:
    """A registered environment of Gymnasium."""

    name: str
    gym_id: str
    fixed: Mapping[str, Any]  # arguments that stay
    ways: Mapping[str, tuple[Parameter, Way]]
    known: Known
    bound: Mapping[str, str]  # attribute -> another one that was computed from it
    seen: Seen
    done: Done
    horizon: int | None
    pays_as_known: bool  # rewards are those of the environment's own class

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the numbers that can be set."""
        return tuple(parameter for parameter, _ in self.ways.values())

    @property
    def observation(self) -> Space:
        """Return what is seen."""
        return self.seen.space

    @property
    def action(self) -> Space:
        """Return what can be done."""
        return self.done.space

    @property
    def seconds(self) -> float | None:
        """Return how long a step is, where that is known."""
        step = self.ways.get(self.known.seconds)
        return None if step is None else step[0].nominal

    def check_name(self, name: str) -> None:
        """Raise if a name is that of an attribute which cannot be set by itself."""
        if name in self.bound and name not in self.ways:
            raise InvalidArgument(
                f"{name} cannot be set by itself: when {self.gym_id} is made, "
                f"{self.bound[name]} is computed from it, and would stay as it is",
                hint="write a factory, file.py:make, that builds the environment with "
                f"{name} and all that follows",
                code="parameter-with-followers",
            )

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return the bounds of an environment whose rewards are known."""
        if self.known.returns is None or not self.pays_as_known:
            return None
        return self.known.returns(min(horizon, self.horizon or horizon))

    def instantiate(self, values: Mapping[str, FloatArray]) -> Worlds:
        """Return one environment for each row."""
        size, every = checked_values(self, values)
        environments, failed = [], {}
        for row in range(size):
            theta = {name: float(every[name][row]) for name in values}
            try:
                environments.append(self.environment(theta))
            except SimgapError as error:
                if error.code != "environment-not-made":
                    raise
                environments.append(None)
                failed[row] = error.problem
        put = self.known.put
        return gym_worlds(environments, self.seen, self.done, put=put, failed=failed)

    def environment(self, theta: Mapping[str, float]) -> Any:
        """Return a new environment with these values, others nominal."""
        given = dict(self.fixed)
        to_set: dict[str, float] = {}
        for name, value in theta.items():
            way = self.ways[name][1]
            if isinstance(way, Argument):
                given[way.name] = way.value(value)
            else:
                to_set[way.name] = value
        env = _made(self.gym_id, given)
        if to_set:
            raw = env.unwrapped
            for name, value in to_set.items():
                _set(raw, name, value)
            self.known.followers(raw)
            for name, value in to_set.items():
                _read_back(raw, name, value)
        return env


def _made(gym_id: str, given: Mapping[str, Any]) -> Any:
    import gymnasium

    try:
        return gymnasium.make(gym_id, disable_env_checker=True, **given)
    except gymnasium.error.UnregisteredEnv as error:
        near = nearest(gym_id, gymnasium.registry)
        raise InvalidArgument(
            f"Gymnasium has no environment {shown(gym_id)!r}",
            hint=f"did you mean gym:{near[0]}?"
            if near
            else "a package that registers it is named first: gym:package:ENV_ID",
            code="no-environment",
        ) from error
    except (Exception, SystemExit) as error:
        with_what = ", ".join(f"{name}={value}" for name, value in given.items())
        raise InvalidArgument(
            f"{gym_id} cannot be made{f' with {with_what}' if with_what else ''}: "
            f"{what_happened(error)}",
            hint="try gymnasium.make with the same arguments",
            code="environment-not-made",
        ) from error


def _ways(
    raw: Any, fixed: Mapping[str, Any], known: Known
) -> dict[str, tuple[Parameter, Way]]:
    """Return every parameter: known ones first, then the constructor's, then others."""
    found = dict(known.parameters)
    taken = {way.name for _, way in found.values()}
    looked: dict[str, tuple[Parameter, Way]] = {**attributes(raw)}
    looked |= arguments(type(raw).__init__, fixed)
    for name, (parameter, way) in looked.items():
        if name in taken or name in known.rewards:
            continue
        low, high, is_open = known.domains.get(
            name, (parameter.low, parameter.high, parameter.low_open)
        )
        found[name] = (replace(parameter, low=low, high=high, low_open=is_open), way)
    return found


def _set(raw: Any, name: str, value: float) -> None:
    try:
        setattr(raw, name, value)
    except Exception as error:
        raise _not_set(name, value, what_happened(error)) from error


def _read_back(raw: Any, name: str, value: float) -> None:
    if (found := getattr(raw, name, None)) != value:
        raise _not_set(name, value, f"it is {found} afterwards")


def _not_set(name: str, value: float, why: str) -> InvalidArgument:
    return InvalidArgument(
        f"{name} cannot be set to {number(value)}: {why}",
        hint="write a factory, file.py:make, that builds the environment with it",
        code="parameter-not-set",
    )


def _fixed(query: str) -> dict[str, Any]:
    """Return the arguments of `key=value&key=value`: flags, numbers or words."""
    found: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        name, sign, text = part.partition("=")
        if not sign or not name.isidentifier() or name in found:
            raise InvalidArgument(
                f"{shown(part)!r} is not an argument of the environment",
                hint="write gym:ENV_ID?name=value&name=value, each name once",
                code="bad-argument",
            )
        found[name] = _value(text)
    return found


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
