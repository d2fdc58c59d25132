"""Built-in tasks: equations for the JAX door, a file for each family."""
