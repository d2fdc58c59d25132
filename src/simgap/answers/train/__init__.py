"""Training policies for a simulator whose parameters are not known."""
