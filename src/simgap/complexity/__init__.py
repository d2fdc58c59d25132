"""How hard a class is: separation, smoothness, covers, eluder dimension."""

from simgap.complexity.separation import ModelPair, Separation, separation

__all__ = ["ModelPair", "Separation", "separation"]
