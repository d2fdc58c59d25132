"""Modules of an extra: there, or refused with how to install them."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from simgap.errors import InvalidArgument


def needed(module: str, *, what: str, extra: str = "continuous") -> Any:
    """Return a module of an extra; `what` is what it is needed for."""
    try:
        found = import_module(module)
    except ImportError as error:
        raise InvalidArgument(
            f"{what} needs {module.partition('.')[0]}, which cannot be imported: "
            f"{error}",
            hint=f"pip install 'simgap[{extra}]'",
            code="extra-missing",
        ) from error
    if module == "jax":
        _check_devices(found)
    return found


def _check_devices(jax: Any) -> None:
    """Refuse JAX without the device that it was told to use."""
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        asked = os.environ.get("JAX_PLATFORMS", "")
        raise InvalidArgument(
            f"JAX finds no device{f' with JAX_PLATFORMS={asked}' if asked else ''}"
            + (f": {str(error)[:200]}" if str(error) else ""),
            hint="JAX_PLATFORMS=cpu, or install JAX for the accelerator",
            code="no-device",
        ) from error
