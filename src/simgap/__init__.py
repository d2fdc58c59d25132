"""simgap: compute, bound and explain the sim-to-real gap of domain randomization.

The questions, models and files, and the gap itself are here; everything else is in its
room (`simgap.planning`, `simgap.base_policies`, ...). Names are resolved when they are
first used, so that `import simgap` costs nothing.
"""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
