"""Rivers and thresholds for tests of the gap of Algorithm 3."""

from __future__ import annotations

from math import log

import numpy as np

from simgap.gap.first_passage import EliminationTests
from simgap.instances import riverswim
from simgap.intervals import Certified
from simgap.planning import (
    AverageRewardPlan,
)

RIVERS = riverswim(
    6, (0.1, 0.225, 0.35, 0.475, 0.6), left_reward=0.7, uniform=True
)  # the class of five whose optimal policies differ


def sharp(
    plan: AverageRewardPlan, horizon: int, scale: float = 1.0
) -> EliminationTests:
    """Scale times sp(l) sqrt(n log(2 H^2) / 2), theory 3.2."""
    root = np.sqrt(np.arange(1, horizon + 1) * log(2.0 * max(horizon, 1) ** 2) / 2.0)
    tolerance = 1e-9 * np.maximum(1.0, plan.bias_span)
    return EliminationTests(scale * plan.bias_span[:, None] * root, tolerance)


def ends(bracket: Certified) -> tuple[float, float]:
    assert bracket.lower is not None and bracket.upper is not None
    return bracket.lower, bracket.upper


def middle(bracket: Certified) -> float:
    return sum(ends(bracket)) / 2.0
