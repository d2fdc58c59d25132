"""Answers for people who randomize a simulator: will it transfer, why not, what now."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
