"""The theorems of the paper."""
