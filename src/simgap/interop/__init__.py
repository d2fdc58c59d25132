"""Files in and out: models in simgap's own format and numpy's, logs as CSV."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
