"""Proposition 2: a large class of diameter 2 on which the oracle never explores.

Two arms. Model p has means (1/2, 1/2 - p): the members i < M have 1/4 < p_i < 1/2, so
that the second arm is bad, and the last has p = -1/2, so that it always wins. It is a
linear mixture of dimension 2, whatever the statement says (spec 4.9).
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import (
    MOST_MEMBERS,
    Interval,
    Points,
    checked_points,
    checked_whole,
)
from simgap.instances.bandit import bandit, bandit_known
from simgap.instances.known import Known
from simgap.mdp import SimulatorClass

BAD = Interval(0.25, 0.5, low_open=True, high_open=True)
WINNER = -0.5
DEFAULT_MEMBERS = 25  # 4 H + 5 for H = 5


def linear_bandit(
    members: int | None = None, *, p: Points | None = None
) -> SimulatorClass:
    """Return the class of Proposition 2 (spec 4.9, rows 23-26).

    Without `p` the members i < M get the interior points of M - 1 + 2 evenly spread
    ones on [1/4, 1/2], as in row 24.
    """
    offsets = _offsets(members, p)
    names = [f"p={offset:.9g}" for offset in offsets[:-1]] + ["winner"]
    distinct = len(set(names)) == len(names)
    return bandit(_means(offsets), model_names=names if distinct else ())


def linear_bandit_known(
    members: int | None = None, *, p: Points | None = None
) -> Known:
    """Return D = 2, the gains, and W* = (H-1)/2 where sum p_i > (H-1)/2 proves it."""
    offsets = _offsets(members, p)
    plain = bandit_known(_means(offsets))
    patience = 2.0 * float(offsets[:-1].sum())

    def oracle_value(horizon: int) -> float | None:
        pulls = max(horizon - 1, 0)
        return pulls / 2.0 if patience > pulls else None

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
        return np.array([*checked_points("p", p, BAD), WINNER])
    count = DEFAULT_MEMBERS if members is None else members
    count = checked_whole("members", count, least=2, most=MOST_MEMBERS)
    return np.append(np.linspace(0.25, 0.5, count + 1)[1:-1], WINNER)


def _means(offsets: FloatArray) -> FloatArray:
    means: FloatArray = np.column_stack([np.full(offsets.size, 0.5), 0.5 - offsets])
    return means
