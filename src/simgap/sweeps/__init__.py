"""Many cells of one question: a plan, a ledger, and the machines that run them."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
