"""Algorithm 4 on classes with infinitely many members: mixtures and covers."""
