"""The public names of a room: one list, read by type checkers and when a name is used.

The list is the file `__init__.pyi` beside a room's `__init__.py`. Nothing is imported
before one of its names is used, so that a command loads only what it needs. What a
room does not list, other rooms do not import.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def open_room(
    room: str,
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a room from its list of names.

    A listed name means what the list says, also where a module of the room is called
    the same: `simgap.oracle` is the function, `from simgap.oracle import ...` the room.
    """
    module = sys.modules[room]
    homes = _homes(Path(str(module.__file__)).with_suffix(".pyi"))
    names = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home, inside = homes[name]
        found = getattr(import_module(home), inside)
        module.__dict__[name] = found
        return found

    class Room(ModuleType):
        """A room whose listed names no sub-module takes away."""

        def __setattr__(self, name: str, value: Any) -> None:
            if not (name in homes and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    module.__class__ = Room
    return get, lambda: names, names


def _homes(listed: Path) -> dict[str, tuple[str, str]]:
    """Return where each name comes from: its module, and what it is called there."""
    return {
        each.asname or each.name: (node.module, each.name)
        for node in ast.parse(listed.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
    }
