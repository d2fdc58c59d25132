"""Models that are not known: beliefs, memory, both sides of the gap of the oracle."""
