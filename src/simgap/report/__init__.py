"""Pages for people, drawn from records on disk."""

from simgap.report.page import render_page, write_page

__all__ = ["render_page", "write_page"]
