"""Estimated numbers: a value, an interval, how sure the interval is, and how made."""

from simgap.statistics.betting import Score, betting_interval, mixture_interval
from simgap.statistics.estimate import Estimate, Label, common_label, greatest_of
from simgap.statistics.mean import Part, estimated_mean
from simgap.statistics.rate import estimated_rate

__all__ = [
    "Estimate",
    "Label",
    "Part",
    "Score",
    "betting_interval",
    "common_label",
    "estimated_mean",
    "estimated_rate",
    "greatest_of",
    "mixture_interval",
]
