"""The lemmas of the paper."""
