"""Agents compiled: Algorithms 1 to 4, improved ones, learners without the class."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
