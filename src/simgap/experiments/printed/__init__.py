"""What is printed and not true."""
