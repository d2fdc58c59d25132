"""simgap: compute, bound and explain the sim-to-real gap of domain randomization.

The questions, models and files, and the gap itself are here; everything else is in its
room (`simgap.planning`, `simgap.base_policies`, ...). Names are resolved when they are
first used, so that `import simgap` costs nothing.
"""

import sys
from types import ModuleType

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _TopLevel(ModuleType):
    """`simgap.oracle` is the question, also when the room of this name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in __all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _TopLevel
