"""Answers for people who randomize a simulator: will it transfer, why not, what now."""
