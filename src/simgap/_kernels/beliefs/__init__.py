"""Models that are not known: beliefs, memory, both sides of the gap of the oracle."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
