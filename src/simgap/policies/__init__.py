"""What an agent is: the interface, and policies with explicit memory."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
