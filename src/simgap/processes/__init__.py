"""Worker processes that may die, take too long or take too much."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
