"""Estimated numbers: a value, an interval, how certain it is, and how it was made.

Functions that compute need numpy and are imported when they are first used; records
hold estimates and are read without numpy.
"""

from simgap.statistics.betting import Score, betting_interval, mixture_interval
from simgap.statistics.mean import (
    RARE,
    Part,
    estimated_mean,
    guaranteed_mean,
    rare_events,
)
from simgap.statistics.rate import estimated_rate

__all__ = [
    "RARE",
    "Part",
    "Score",
    "betting_interval",
    "estimated_mean",
    "estimated_rate",
    "guaranteed_mean",
    "mixture_interval",
    "rare_events",
]
