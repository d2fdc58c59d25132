"""What a simulator is: one MDP, a class U of them, a latent MDP (U, nu)."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
