"""Is the class dense enough? Assumption 3 on a grid of parameters.

The real parameters lie between those that were simulated. If losses change smoothly
from one model to its neighbour, they do not change much in between either; where they
jump, the grid is too coarse to say. The distance of two models is that of their
parameters, each in units of its range.
"""

from __future__ import annotations

import numpy as np

from simgap.answers.weighted_models import WeightedModels
from simgap.arrays import FloatArray
from simgap.complexity import ParameterDistance, lipschitz, model_distances
from simgap.records import Finding
from simgap.text import SHORT, listed, number, percent, shown

MOST_MODELS = 4096  # a matrix of all distances
CHECK = "smoothness"


def smoothness_finding(
    models: WeightedModels,
    gaps: FloatArray | None,
    *,
    stake: float | None,
    acceptable: float,
) -> Finding:
    """Return how losses change between neighbouring models (Assumption 3).

    `gaps` (K,) are those of the planned policy, `stake` what acting at random loses on
    average; both None without a horizon.
    """
    theta = models.simulators.theta
    if not theta.names or not np.ptp(theta.values, axis=0).any():
        text = "does not apply: the class is a list of models without parameters"
        return Finding(CHECK, "no-parameters", "info", text)
    varied = [n for n, v in zip(theta.names, theta.values.T, strict=True) if np.ptp(v)]
    if gaps is None or stake is None:
        text = f"how losses change over {listed(varied)} is known with a horizon (-H)"
        return Finding(CHECK, "needs-horizon", "info", text)
    if len(gaps) > MOST_MODELS:
        text = f"not measured: {len(gaps)} models make too many pairs"
        return Finding(CHECK, "not-measured", "info", text)
    distances = model_distances(models.simulators, ParameterDistance())
    slope = lipschitz(distances, gaps).constant
    apart = np.where(np.eye(len(gaps), dtype=bool), np.inf, distances.matrix)
    near = apart.argmin(axis=1)
    jumps = np.abs(gaps - gaps[near])
    at = int(np.argmax(jumps))
    if stake <= 0.0:
        text = "random actions lose nothing"
        return Finding(CHECK, "nothing-at-stake", "ok", text, 0.0)
    jump = float(jumps[at]) / stake
    first, second = (shown(models.names[m], SHORT) for m in (at, int(near[at])))
    text = (
        f"from one model to its neighbour over {listed(varied)} the loss changes by at "
        f"most {percent(jump)} of what random actions lose"
    )
    if jump > acceptable:
        text += (
            f" (between {first} and {second}): what happens between these two is not "
            "known, add models between them"
        )
        return Finding(CHECK, "jumps", "warning", text, jump)
    text += f"; Lipschitz constant {number(slope, 3)} per whole range"
    return Finding(CHECK, "smooth", "ok", text, jump)
