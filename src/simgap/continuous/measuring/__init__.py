"""Returns over a design of parameters, and what follows from them."""
