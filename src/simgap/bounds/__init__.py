"""Every bound of the paper as a function of numbers, with its constants.

Bounds take numbers, never models. All of them are for rewards in [0, 1]: the gap of a
class with other rewards is that of the rescaled one, times the range.
"""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
