"""Estimated numbers: a value, an interval, how sure the interval is, and how made.

What computes needs numpy and is imported when it is first used: records hold estimates
and are read without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simgap.statistics.estimate import Estimate, Label, common_label, greatest_of

if TYPE_CHECKING:
    from simgap.statistics.betting import Score, betting_interval, mixture_interval
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

_HOMES = {
    "Part": "mean",
    "Score": "betting",
    "betting_interval": "betting",
    "estimated_mean": "mean",
    "estimated_rate": "rate",
    "mixture_interval": "betting",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simgap.statistics' has no attribute {name!r}")
    return getattr(import_module(f"simgap.statistics.{_HOMES[name]}"), name)
