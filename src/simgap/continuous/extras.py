"""Modules of an extra: there, or refused with how to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from simgap.errors import InvalidArgument


def needed(module: str, *, what: str, extra: str = "continuous") -> Any:
    """Return a module of an extra; `what` is what it is needed for."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidArgument(
            f"{what} needs {module.partition('.')[0]}, which cannot be imported: "
            f"{error}",
            hint=f"pip install 'simgap[{extra}]'",
            code="extra-missing",
        ) from error
