"""The domain-randomization oracle: certified planning in latent MDPs."""

from simgap.rooms import open_room

__getattr__, __dir__, __all__ = open_room(__name__)
