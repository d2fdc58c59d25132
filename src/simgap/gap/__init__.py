"""The sim-to-real gap and the regret of any policy (Equation 1)."""
