"""Two switches, one of them better: the oracle's gap from a table (theory row 21b).

The class of Theorem 3 with one switch, two pulls and two models is symmetric: what an
agent knows is how much oftener the first pull than the second has flipped the switch
(u) and has failed to (f), since the odds of the first model are

    ((delta + e)/delta)^u ((1 - delta - e)/(1 - delta))^f.

So the belief recursion (theory 5.1), written for losses, runs over a table of (u, f)
whatever the horizon, where a tree of beliefs would not fit. Actions that do nothing are
left out: a pull does at least as well, it may flip the switch and tells something.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.instances import switch_tree
from simgap.intervals import EPS, Certified
from simgap.mdp import LatentMDP
from simgap.oracle import LossForm, loss_form

ROUNDINGS = 20.0  # of one entry in one step, more than there are
SECOND_PULL = 1


def two_switches(horizon: int, delta: float, e: float) -> tuple[LossForm, Certified]:
    """Return the problem and the exact average gap of its oracle."""
    latent = LatentMDP.uniform(switch_tree(1, 2, e, 2, delta=delta))
    form = loss_form(latent, horizon=horizon)
    gap = _average_gap(delta, e, form.losses[:, 0, SECOND_PULL, 0])
    up, fail = _evidence(delta, e)
    reach = 1.0 + horizon * max(abs(up), abs(fail))  # of the exponents of odds
    rounding = ROUNDINGS * horizon * EPS * reach * (1.0 + gap)
    return form, Certified.around(gap, form.rounding + rounding)


def _average_gap(delta: float, e: float, losses: FloatArray) -> float:
    """Return G_1 of the recursion; `losses[h]` is the price of the wrong pull.

    Rows are u = 0, 1, ..., columns f from -H to H: with models and pulls exchanged,
    (u, f) is (-u, -f), so that row -1 is row 1 backwards.
    """
    horizon = losses.size
    up, fail = _evidence(delta, e)
    u, f = np.arange(horizon + 2), np.arange(-horizon, horizon + 1)
    first = 1.0 / (1.0 + np.exp(-(u[:, None] * up + f[None, :] * fail)))
    off = np.zeros((horizon + 2, 2 * horizon + 1))  # G while the switch is off
    on = off.copy()
    for h in range(horizon - 1, -1, -1):
        rows, after = slice(0, h + 1), slice(1, h + 2)
        here = slice(horizon - h, horizon + h + 1)
        more = slice(horizon - h + 1, horizon + h + 2)
        less = slice(horizon - h - 1, horizon + h)
        belief = first[rows, here]  # in model 0
        flip = delta + e * belief
        one = (1.0 - belief) * losses[h]
        one += flip * on[after, here]
        one += (1.0 - flip) * off[rows, more]
        flip = delta + e * (1.0 - belief)
        other = belief * losses[h]
        other[1:] += flip[1:] * on[:h, here]
        other[0] += flip[0] * on[1, here][::-1]
        other += (1.0 - flip) * off[rows, less]
        stay = delta * off[rows, here] + (1.0 - delta) * on[rows, here]
        off[rows, here] = np.minimum(one, other)
        on[rows, here] = stay
    return float(off[0, horizon])


def _evidence(delta: float, e: float) -> tuple[float, float]:
    """Return what a flip and a failure add to the logarithm of the odds."""
    return (
        float(np.log((delta + e) / delta)),
        float(np.log((1.0 - delta - e) / (1.0 - delta))),
    )
