"""Walking through a real model: random streams, draws, counts."""
