"""Algorithms 1 to 4 of the paper."""
