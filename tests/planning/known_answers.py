"""Closed forms against what is solved."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.instances import (
    Known,
)
from simgap.mdp import (
    SimulatorClass,
)
from simgap.planning import (
    diameter,
    solve_average_reward,
)


def assert_known(
    simulators: SimulatorClass, known: Known, *, bias: float = 1e-9
) -> None:
    """Gain and diameter to 1e-10 and within their brackets; the bias to `bias`."""
    plan, width = solve_average_reward(simulators), diameter(simulators)
    # closed forms are floats themselves: good to a few units in the last place
    close = 1e-14
    if known.gain is not None:
        assert plan.gain == pytest.approx(np.asarray(known.gain), rel=1e-10)
        assert (plan.gain_lower <= known.gain * (1.0 + close)).all()
        assert (known.gain * (1.0 - close) <= plan.gain_upper).all()
    if known.bias is not None:
        assert plan.bias == pytest.approx(np.asarray(known.bias), rel=bias, abs=bias)
    if known.diameter is not None:
        found = 0.5 * (width.model_lower + width.model_upper)
        assert found == pytest.approx(np.asarray(known.diameter), rel=1e-10)
        assert (width.model_lower <= known.diameter * (1.0 + close)).all()
        assert (known.diameter * (1.0 - close) <= width.model_upper).all()
