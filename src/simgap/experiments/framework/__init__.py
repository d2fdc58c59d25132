"""What a claim is, and what several claims measure."""
