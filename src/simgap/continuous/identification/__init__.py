"""What real logs say about the parameters."""
