"""Proposition 2: a large class of diameter 2 on which the oracle never explores.

Two arms. The models i < M have means (1/2, 1/2 - p_i), 1/4 < p_i < 1/2, so that the
second arm is bad. In the last one, the winner, it has mean 1/2 + bonus. It is a linear
mixture of dimension 2, features (1, 0) and (1, 1), theta_i = (1/2, -p_i) and theta_M =
(1/2, bonus) (theory 4.9).

Nothing is learned before the second arm is pulled. If it is ever pulled, with
probability q, the models i < M lose at least q sum p_i together and the last one gains
at most q (H - 1) bonus. So no oracle pulls it if sum p_i > (H - 1) bonus, and its gap
in the last model is (H - 1) bonus (errata E33):

* bonus 1/2, as in print, needs sum p_i > (H - 1)/2: enough are M = 4H + 5 models;
* bonus 1/4 needs M >= H models alone, as the proposition says, for any p_i > 1/4.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import (
    MOST_MEMBERS,
    Interval,
    Points,
    checked_number,
    checked_points,
    checked_whole,
)
from simgap.instances.bandit import bandit, bandit_known
from simgap.instances.known import Known
from simgap.mdp import SimulatorClass

BAD = Interval(0.25, 0.5, low_open=True, high_open=True)
BONUS = Interval(0.0, 0.5, low_open=True)
PRINTED_BONUS = 0.5  # the second arm of the winner never fails
DEFAULT_MEMBERS = 25  # 4 H + 5 for H = 5


def linear_bandit(
    members: int | None = None,
    *,
    p: Points | None = None,
    bonus: float = PRINTED_BONUS,
) -> SimulatorClass:
    """Return the class of Proposition 2 (theory 4.9, rows 23-26).

    Without `p` the models i < M get the interior points of M - 1 + 2 evenly spread
    ones on [1/4, 1/2], as in theory row 24.
    """
    offsets = _offsets(members, p)
    names = [f"p={offset:.9g}" for offset in offsets] + ["winner"]
    distinct = len(set(names)) == len(names)
    return bandit(_means(offsets, bonus), model_names=names if distinct else ())


def linear_bandit_known(
    members: int | None = None,
    *,
    p: Points | None = None,
    bonus: float = PRINTED_BONUS,
) -> Known:
    """Return D = 2, the gains, and W* = (H-1)/2 where sum p_i > (H-1) bonus."""
    offsets = _offsets(members, p)
    means = _means(offsets, bonus)
    plain = bandit_known(means)
    *above, prize = (Fraction(mean) - Fraction(1, 2) for mean in means[:, 1].tolist())
    price = -sum(above)  # M times what the first pull costs the average

    def oracle_value(horizon: int) -> float | None:
        pulls = max(horizon - 1, 0)
        return pulls / 2.0 if price > pulls * prize else None

    return Known(
        gain=plain.gain,
        bias=plain.bias,
        diameter=plain.diameter,
        separation=plain.separation,
        value=plain.value,
        oracle_value=oracle_value,
    )


def _offsets(members: int | None, p: Points | None) -> FloatArray:
    if members is not None and p is not None:
        raise InvalidInstance(
            f"members is {members} and p is {p}",
            hint="give one of them; p has one value per bad model",
        )
    if p is not None:
        return np.array(checked_points("p", p, BAD))
    count = DEFAULT_MEMBERS if members is None else members
    count = checked_whole("members", count, least=2, most=MOST_MEMBERS)
    return np.linspace(0.25, 0.5, count + 1)[1:-1]


def _means(offsets: FloatArray, bonus: float) -> FloatArray:
    best = 0.5 + checked_number("bonus", bonus, BONUS)
    second = np.append(0.5 - offsets, best)
    means: FloatArray = np.column_stack([np.full(second.size, 0.5), second])
    return means
