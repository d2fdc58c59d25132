"""Pages for people, drawn from records on disk.

Every verb takes its words from here, so the pages themselves are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simgap.report.explorer import write_explorer
    from simgap.report.page import render_page, write_page

__all__ = ["render_page", "write_explorer", "write_page"]

_HOMES = {"render_page": "page", "write_explorer": "explorer", "write_page": "page"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"simgap.report.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'simgap.report' has no attribute {name!r}")
