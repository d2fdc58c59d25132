"""Does it transfer? Policies measured over the parameters of real simulators."""
