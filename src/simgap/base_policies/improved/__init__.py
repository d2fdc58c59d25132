"""Better members of the same family."""
