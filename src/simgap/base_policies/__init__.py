"""Algorithms 1 to 4 of the paper, improved members of the family, and their peers."""
