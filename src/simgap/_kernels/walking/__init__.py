"""Walking through a real model: random streams, draws, counts."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
