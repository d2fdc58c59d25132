"""The sim-to-real gap and the regret of any policy (Equation 1)."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
