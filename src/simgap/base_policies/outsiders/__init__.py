"""Learners that do not know the class: UCRL2, UCRL2B, PSRL."""

from simgap.base_policies.outsiders.psrl import PSRL, psrl
from simgap.base_policies.outsiders.ucrl import UCRL, ucrl2, ucrl2b

__all__ = [
    "PSRL",
    "UCRL",
    "psrl",
    "ucrl2",
    "ucrl2b",
]
