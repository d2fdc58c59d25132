"""What a simulation needs and leaves behind: tables to draw from, streams, runs."""
