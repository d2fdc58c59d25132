"""Estimated numbers: a value, an interval, how sure the interval is, and how made.

What computes needs numpy and is imported when it is first used: records hold estimates
and are read without it.
"""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
