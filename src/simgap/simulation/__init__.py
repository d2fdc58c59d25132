"""What a simulation needs and leaves behind: tables to draw from, streams, runs."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
