"""The propositions of the paper."""
