"""Every bound of the paper as a function of numbers, with its constants.

The functions take numbers, never models, and assume rewards in [0, 1]. For rewards in
another interval the class is rescaled: its gap is that of the rescaled class, times the
width of the interval (`Bound.in_rewards`). Statements and proofs: theory 4.
"""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
