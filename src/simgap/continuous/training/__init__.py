"""Training of policies: with memory, without, told the parameters or not."""
