"""Every question about a class at once."""
