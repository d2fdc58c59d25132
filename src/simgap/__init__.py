"""simgap: compute, bound and explain the sim-to-real gap of domain randomization.

The questions, models and files, and the gap itself are here; everything else is in its
room (`simgap.planning`, `simgap.base_policies`, ...). Names are resolved when they are
first used, so that `import simgap` costs nothing.
"""

from typing import Any

from simgap.rooms import open_room

_listed, __dir__, __all__ = open_room(__name__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _listed(name)
    from simgap.moved import moved_name

    return moved_name(name)
