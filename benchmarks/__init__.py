"""Timing scripts: ratios against a named peer, in one run, never a timed test."""
