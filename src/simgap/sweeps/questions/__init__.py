"""The questions that a sweep can ask."""
