"""Known models: values, gains, travel times, distances."""
