"""How hard a class is: separation, smoothness, covers, eluder dimension."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
