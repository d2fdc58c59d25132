"""Algorithm 4 on classes with infinitely many models: mixtures and covers."""
