"""Actions of a policy as a simulator takes them: one place for shapes and ends.

A policy may say whatever number it likes: what lies beyond the ends of the action space
is moved to the end, and the share of such numbers is told. A wrong shape, or an action
that does not exist, is a mistake and is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.interfaces import BroughtPolicy, Choices, Space
from simgap.errors import InvalidArgument

ROUNDING = 1e-6  # networks compute in single precision, ends are given in double


def to_actions(
    raw: FloatArray,
    space: Space,
    alive: BoolArray | None = None,
    *,
    clip: bool = True,
) -> tuple[FloatArray, float]:
    """Return actions within their ends, and which share of their numbers was beyond.

    `raw` is (B, A), or (B,) for choices. Only rows that are `alive` are counted.
    Without `clip` the simulator gets what is beyond as well.
    """
    given = shaped_actions(raw, space, len(raw))
    if isinstance(space, Choices):
        return given, 0.0
    actions: FloatArray = np.clip(given, space.low, space.high)
    with np.errstate(invalid="ignore"):  # what is not finite is not beyond
        beyond = np.abs(given - actions) > ROUNDING * np.maximum(1.0, np.abs(actions))
    counted = beyond if alive is None else beyond[alive]
    share = float(counted.mean()) if counted.size else 0.0
    return actions if clip else given, share


def clips_actions(policy: BroughtPolicy) -> bool:
    """Return whether a policy's actions are moved to their ends: most are."""
    return bool(getattr(policy, "clips", True))


def shaped_actions(given: Any, space: Space, size: int) -> FloatArray:
    """Return the actions of `size` worlds as (B, A), or (B,) for choices, or refuse.

    What is not finite stays: it costs the episode, not the measurement.
    """
    try:
        array: FloatArray = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise wrong_action(f"not numbers: {str(given)[:80]!r}", space) from error
    if isinstance(space, Choices):
        if array.shape not in ((size,), (size, 1)):
            raise wrong_action(f"of shape {array.shape} for {size} worlds", space)
        array = array.reshape(size)
        known = (array >= 0) & (array < space.n) & (array == np.floor(array))
        if (wrong := np.isfinite(array) & ~known).any():
            raise wrong_action(f"{array[wrong][0]:g}", space, "action-unknown")
        return array
    if array.shape == (size,) and space.size == 1:
        return array.reshape(size, 1)
    if array.shape != (size, space.size):
        raise wrong_action(f"of shape {array.shape} for {size} worlds", space)
    return array


def wrong_action(
    what: str, space: Space, code: str = "action-of-wrong-shape"
) -> InvalidArgument:
    """Return the error about an action that does not fit."""
    return InvalidArgument(
        f"the policy gives an action {what}", hint=f"it is {wanted(space)}", code=code
    )


def wanted(space: Space) -> str:
    """Return what one action is, in words."""
    if isinstance(space, Choices):
        return f"a whole number from 0 to {space.n - 1}"
    low, high = space.low, space.high
    ends = (
        f" from {low.min():g} to {high.max():g}" if np.ptp(low) == np.ptp(high) else ""
    )
    return f"{space.size} number{'' if space.size == 1 else 's'}{ends}"
