"""Pages for people, drawn from records on disk.

Every verb takes its words from here, so the page itself is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simgap.report.explorer import write_explorer

__all__ = ["write_explorer"]


def __getattr__(name: str) -> Any:
    if name == "write_explorer":
        return import_module("simgap.report.explorer").write_explorer
    raise AttributeError(f"module 'simgap.report' has no attribute {name!r}")
