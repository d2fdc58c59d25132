"""What long work has finished, on disk: kept for good, one driver at a time."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
