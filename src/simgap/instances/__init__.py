"""Simulator classes by name, each with its closed forms."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
