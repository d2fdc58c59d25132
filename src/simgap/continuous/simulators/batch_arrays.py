"""What a batch of worlds returns, as arrays of NumPy with one row for each world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.interfaces import Space
from simgap.continuous.simulators.gym_worlds import SUCCESS
from simgap.errors import InvalidArgument


def numbers(value: Any) -> FloatArray:
    """Return an array, or a tensor wherever it is, as float64 of NumPy."""
    for leave in ("detach", "cpu"):
        if callable(move := getattr(value, leave, None)):
            value = move()
    return np.array(value, np.float64)


def observations(value: Any, size: int, space: Space | None) -> FloatArray:
    """Return observations as (B, O)."""
    parts = [*_rows(value, size)]
    shown = np.concatenate(parts, axis=1) if parts else np.zeros((size, 0))
    if space is not None and shown.shape[1] != space.size:
        raise InvalidArgument(
            f"an observation has {shown.shape[1]} numbers, {space.size} are declared",
            hint="observations are (B, numbers), the same in every step",
            code="observation-shape",
        )
    return shown


def _rows(value: Any, size: int) -> list[FloatArray]:
    if isinstance(value, Mapping):
        return [row for part in value.values() for row in _rows(part, size)]
    if isinstance(value, (tuple, list)) and len(value) != size:
        return [row for part in value for row in _rows(part, size)]
    try:
        array = numbers(value)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"observations are not numbers: {str(value)[:80]!r}",
            hint="give arrays of B rows, or dictionaries of them",
            code="observation-shape",
        ) from error
    if array.ndim == 0 or array.shape[0] != size:
        raise InvalidArgument(
            f"observations have shape {array.shape} for {size} worlds",
            hint="the first axis is the world: (B, numbers)",
            code="observation-shape",
        )
    return [array.reshape(size, -1)]


def of_step(
    result: Any, size: int
) -> tuple[Any, FloatArray, BoolArray, Mapping[str, Any]]:
    """Return observations, rewards (B,), ends (B,) and info of what `step` returns."""
    if not isinstance(result, tuple) or len(result) not in (3, 4, 5):
        raise InvalidArgument(
            f"step returns {len(result) if isinstance(result, tuple) else 1} values",
            hint="return observations, rewards, ended, or these and info, or "
            "observations, rewards, terminated, truncated, info",
            code="step-result",
        )
    observation, reward, *ends = result
    info = ends.pop() if len(result) > 3 else {}
    ended = np.zeros(size, np.bool_)
    for each in ends:
        ended |= _column("ended", each, size) != 0.0
    paid = _column("rewards", reward, size)
    return observation, paid, ended, info if isinstance(info, Mapping) else {}


def _column(what: str, value: Any, size: int) -> FloatArray:
    array = numbers(value)
    if array.shape not in ((size,), (size, 1)):
        raise InvalidArgument(
            f"{what} have shape {array.shape} for {size} worlds",
            hint="give one for each world, (B,)",
            code="reward-shape" if what == "rewards" else "ended-shape",
        )
    return array.reshape(size)


def success(info: Mapping[str, Any], size: int) -> BoolArray | None:
    """Return which worlds succeeded, if the info says so."""
    final = info.get("final_info")
    for told in (final, info) if isinstance(final, Mapping) else (info,):
        for key in SUCCESS:
            if key in told:
                flags = _column("success", told[key], size)
                if not np.isin(flags, (0.0, 1.0)).all():
                    raise InvalidArgument(
                        f"info[{key!r}] holds {flags[~np.isin(flags, (0.0, 1.0))][0]}",
                        hint="a success is True or False, 1 or 0",
                        code="success-not-a-flag",
                    )
                said: BoolArray = flags != 0.0
                return said
    return None
