"""Algorithms 1 to 4 of the paper, improved agents of this kind, and their peers."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
