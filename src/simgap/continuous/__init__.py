"""Real simulators: randomized, brought policies, measured gaps (Section 3.2)."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
