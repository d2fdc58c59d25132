"""Agents that know the class and lose less than Algorithms 1 to 4."""
