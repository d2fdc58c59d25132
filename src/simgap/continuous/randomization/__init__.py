"""What is drawn for each episode: nu over named parameters."""
