"""A quick look at how many beliefs there are, before anything is compiled.

The first steps are walked in plain Python, beliefs rounded, and the growth of their
number is carried on to the horizon. Only the choice of a solver depends on it.
"""

from __future__ import annotations

from math import log

import numpy as np

from simgap.arrays import FloatArray
from simgap.oracle.loss_form import LossForm

LOOKED_AT = 1000  # beliefs
MARGIN = 20.0  # how far above the limit the outlook must be
DIGITS = 10


def looks_hopeless(form: LossForm, limit: int) -> bool:
    """Return whether there are surely many more beliefs than `limit`."""
    if form.horizon is None:
        return True
    layer = {
        (int(state), _key(weights)): weights / weights.sum()
        for state, weights in zip(form.root_states, form.root_weights, strict=True)
    }
    totals = [len(layer)]
    for _ in range(form.horizon - 1):
        layer = _next_layer(form, layer)
        totals.append(totals[-1] + len(layer))
        if totals[-1] > LOOKED_AT:
            break
    else:
        return False
    depth = len(totals)
    middle = min(depth // 2, depth - 2)  # many starts can end the look at depth 2
    power = log(totals[-1] / totals[middle]) / log(depth / (middle + 1))
    outlook = totals[-1] * float(form.horizon / depth) ** power
    return bool(outlook > MARGIN * limit)


def _next_layer(
    form: LossForm, layer: dict[tuple[int, bytes], FloatArray]
) -> dict[tuple[int, bytes], FloatArray]:
    found: dict[tuple[int, bytes], FloatArray] = {}
    pattern, n_actions = form.pattern, form.pattern.n_actions
    for (state, _), belief in layer.items():
        first, last = pattern.indptr[[state * n_actions, (state + 1) * n_actions]]
        joint = form.likelihood[first:last] * belief
        total = joint.sum(axis=1)
        for at in np.flatnonzero(total > 0.0):
            after = joint[at] / total[at]
            if after.max() < 1.0 - 1e-12:  # a settled belief needs no planning
                found[int(pattern.indices[first + at]), _key(after)] = after
        if len(found) > LOOKED_AT:
            break
    return found


def _key(weights: FloatArray) -> bytes:
    rounded: FloatArray = np.round(weights / weights.sum(), DIGITS) + 0.0
    return rounded.tobytes()
