"""Agents compiled: Algorithms 1 to 4, improved ones, learners without the class."""
