"""simgap: compute, bound and explain the sim-to-real gap of domain randomization.

Names are resolved when they are first used, so that `import simgap` costs nothing.
"""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
