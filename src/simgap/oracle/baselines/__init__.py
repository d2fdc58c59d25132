"""What the oracle is compared with: agents that know more, remember less, or guess."""

from simgap.oracle.baselines.baseline import Baseline
from simgap.oracle.baselines.table import (
    baselines,
    value_of_memory,
    value_of_randomization,
)

__all__ = ["Baseline", "baselines", "value_of_memory", "value_of_randomization"]
