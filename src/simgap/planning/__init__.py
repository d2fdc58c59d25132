"""Optimal control of known models: over H steps, on average, and to a target."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
