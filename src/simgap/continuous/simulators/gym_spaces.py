"""Spaces of Gymnasium as numbers in a row, and actions as environments take them.

An observation is a row of float64: arrays are flattened, the parts of a dictionary or a
tuple follow each other in the order of their space, one of n is one number from 0 on.
An action is one row of numbers, or one of n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from gymnasium import spaces

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Box, Choices, Space
from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """How observations of a Gymnasium space are read."""

    space: Space
    gym_space: Any

    def numbers(self, observation: Any) -> FloatArray:
        """Return one observation as (O,), or refuse what is not of the space."""
        if isinstance(self.gym_space, spaces.Box | spaces.Discrete):
            return _array(self.gym_space, observation, "the observation")
        parts = list(_parts(self.gym_space, observation, "the observation"))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """How actions are given to a Gymnasium space."""

    space: Space
    gym_space: Any

    def actions(self, rows: FloatArray) -> Any:
        """Return a copy of the actions of B worlds in the shape and type of the space.

        Each of its rows is what `env.step` takes.
        """
        if isinstance(self.space, Choices):
            return rows.astype(self.gym_space.dtype)
        return rows.reshape(-1, *self.gym_space.shape).astype(self.gym_space.dtype)


def seen_of(gym_space: Any) -> Seen:
    """Return how observations of a space are read, or refuse the space."""
    _refuse_start(gym_space)
    if isinstance(gym_space, spaces.Discrete):
        return Seen(Choices(int(gym_space.n)), gym_space)
    ends = [(np.zeros(0), np.zeros(0)), *_ends(gym_space)]
    low, high = (np.concatenate(each) for each in zip(*ends, strict=True))
    return Seen(Box(low, high), gym_space)


def _refuse_start(gym_space: Any) -> None:
    """Refuse numbers that do not start at 0: policies would mean others by them."""
    if isinstance(gym_space, spaces.Discrete) and gym_space.start != 0:
        raise InvalidArgument(
            f"{gym_space} does not start at 0",
            hint="wrap the environment, so that its choices are 0 to n - 1",
            code="discrete-start",
        )


def done_of(gym_space: Any) -> Done:
    """Return how actions are given to a space, or refuse the space."""
    _refuse_start(gym_space)
    if isinstance(gym_space, spaces.Discrete):
        return Done(Choices(int(gym_space.n)), gym_space)
    if isinstance(gym_space, spaces.Box):
        ((low, high),) = _ends(gym_space)
        return Done(Box(low, high), gym_space)
    raise InvalidArgument(
        f"actions are of the space {str(gym_space)[:200]}",
        hint="Box and Discrete are supported: wrap the environment, so that an action "
        "is one array of numbers or one of n",
        code="action-space",
    )


def _ends(space: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the ends of the parts of an observation, in order."""
    if isinstance(space, spaces.Box):
        yield _flat(space.low), _flat(space.high)
    elif isinstance(space, spaces.Discrete):
        yield np.zeros(1), np.full(1, space.n - 1.0)
    elif isinstance(space, spaces.MultiDiscrete):
        yield np.zeros(space.nvec.size), _flat(space.nvec) - 1.0
    elif isinstance(space, spaces.MultiBinary):
        size = int(np.prod(space.shape))
        yield np.zeros(size), np.ones(size)
    elif isinstance(space, spaces.Dict):
        for part in space.spaces.values():
            yield from _ends(part)
    elif isinstance(space, spaces.Tuple):
        for part in space.spaces:
            yield from _ends(part)
    else:
        raise InvalidArgument(
            f"observations are of the space {str(space)[:200]}",
            hint="Box, Discrete, MultiDiscrete, MultiBinary and dictionaries or tuples "
            "of them are supported: wrap the environment (ObservationWrapper)",
            code="observation-space",
        )


def _parts(space: Any, value: Any, what: str) -> Iterator[FloatArray]:
    """Yield the numbers of a value of a space, part by part."""
    if isinstance(space, spaces.Dict):
        for name, part in space.spaces.items():
            try:
                inside = value[name]
            except (KeyError, TypeError, IndexError) as error:
                raise _wrong(f"{what} has no part {name!r}") from error
            yield from _parts(part, inside, f"{what}[{name!r}]")
        return
    if isinstance(space, spaces.Tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(space.spaces):
            raise _wrong(f"{what} is not {len(space.spaces)} parts in a tuple")
        for at, (part, inside) in enumerate(zip(space.spaces, value, strict=True)):
            yield from _parts(part, inside, f"{what}[{at}]")
        return
    yield _array(space, value, what)


def _array(space: Any, value: Any, what: str) -> FloatArray:
    """Return the numbers of a value of a space without parts."""
    try:
        array: FloatArray = np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise _wrong(f"{what} is not numbers: {str(value)[:80]!r}") from error
    if isinstance(space, spaces.Discrete):
        if array.size != 1:
            raise _wrong(f"{what} has shape {array.shape}, its space is {space}")
        return array.reshape(1)
    if array.shape != space.shape:
        raise _wrong(f"{what} has shape {array.shape}, its space says {space.shape}")
    return array.reshape(-1)


def _wrong(problem: str) -> InvalidArgument:
    return InvalidArgument(
        problem,
        hint="the environment's observation_space must say what it shows",
        code="observation-shape",
    )


def _flat(array: Any) -> FloatArray:
    return np.asarray(array, np.float64).reshape(-1)
