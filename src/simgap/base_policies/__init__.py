"""Algorithms 1 to 4 of the paper, improved agents of this kind, and their peers."""
