"""Remarks of the paper, and of this library."""
