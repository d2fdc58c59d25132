"""A motor whose polarity and strength nobody has measured."""

from __future__ import annotations

from typing import Any

from simgap.continuous.interfaces import Parameter

GAIN = Parameter(
    "gain", 1.0, 0.0, meaning="what the motor makes of a command, in parts of it"
)
SIGN = Parameter(
    "sign",
    1.0,
    -1.0,
    1.0,
    whole=True,
    meaning="polarity of the motor; -1: wires swapped, 0: broken",
)


def driven(command: Any, theta: Any) -> Any:
    """Return what the motor does with a command between -1 and 1."""
    return theta["sign"] * theta["gain"] * command.clip(-1.0, 1.0)
