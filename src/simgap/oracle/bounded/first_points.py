"""How many points to begin with: as many as a part of the time limit allows."""

from __future__ import annotations

import numpy as np

from simgap.oracle.bounded.upper_side import upper_effort
from simgap.oracle.loss_form import LossForm

PART_FOR_NODES = 0.07  # of the time left, for the first pass over points
MUCH_TIME = 60.0
MOST_FIRST_POINTS = 8000


def first_points(form: LossForm, seconds: float, *, members: int | None = None) -> int:
    """Return how many points a time limit allows first, for all or so many models."""
    states = form.pattern.n_states
    each = upper_effort(form, 1000, 1000, 12, members=members) / 1000
    count = 1e9 * PART_FOR_NODES * min(seconds, MUCH_TIME) / each
    most = min(MOST_FIRST_POINTS, max(1500, 400 * states))
    return int(np.clip(count, max(4 * states, 500), most))
