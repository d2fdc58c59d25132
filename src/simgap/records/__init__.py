"""One typed record for each answer: for Python, in JSON, on disk and on the page."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
