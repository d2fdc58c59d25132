"""Modules of the extra `continuous`: there, or refused with how to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from simgap.errors import InvalidArgument


def needed(module: str, *, what: str) -> Any:
    """Return a module of the extra `continuous`; `what` is what it is needed for."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidArgument(
            f"{what} needs {module.partition('.')[0]}, which cannot be imported: "
            f"{error}",
            hint="pip install 'simgap[continuous]'",
            code="extra-missing",
        ) from error
