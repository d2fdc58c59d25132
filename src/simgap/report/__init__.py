"""Pages for people, drawn from records on disk.

Every verb takes its words from here, so the page itself is imported on first use.
"""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
