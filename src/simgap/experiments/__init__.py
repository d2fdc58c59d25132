"""Every claim of the paper as an experiment with a verdict."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
