"""Estimated numbers: a value, an interval, how certain it is, and how it was made.

Functions that compute need numpy and are imported when they are first used; records
hold estimates and are read without numpy.
"""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
