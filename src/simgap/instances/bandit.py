"""Bandits as MDPs: rewards are shared, only transitions vary (theory 4.9).

States lose and win; win pays 1. Arm a leads to win with its mean, whatever the state.
The start is lose, so H steps are n = H - 1 pulls: the last action is idle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import (
    MOST_MEMBERS,
    PROBABILITY,
    Interval,
    check_volume,
    checked_number,
    checked_whole,
)
from simgap.instances.known import Known, separation_of_rows
from simgap.mdp import (
    Details,
    IndexOrder,
    Parameters,
    SimulatorClass,
    class_from_arrays,
)

HALF = Interval(0.0, 0.5, low_open=True)


def bandit(
    means: npt.ArrayLike = ((0.5, 0.6),), *, model_names: Sequence[str] = ()
) -> SimulatorClass:
    """Return the encoding of theory 4.9; `means` is (models, arms), or (arms,)."""
    table = checked_means(means)
    members, arms = table.shape
    check_volume("bandit", members * arms * 4)
    kernel = np.empty((members, 2, arms, 2))
    kernel[..., 1] = table[:, None, :]
    kernel[..., 0] = 1.0 - table[:, None, :]
    names = tuple(f"arm {a}" for a in range(arms))
    return class_from_arrays(
        kernel,
        np.array([[0.0] * arms, [1.0] * arms]),
        order=IndexOrder.STATE_ACTION,
        details=Details(
            model_names=model_names,
            state_names=("lose", "win"),
            action_names=names,
            parameters=Parameters(names, table),
        ),
    )


def bandit_known(means: npt.ArrayLike = ((0.5, 0.6),)) -> Known:
    """Return rho = max mean, l = (0, 1), V*_1 = (H-1) max mean (theory rows 13-14).

    D = max(1 / max mean, 1 / (1 - min mean)), infinite if an end cannot be reached.
    """
    table = checked_means(means)
    best, worst = table.max(axis=1), table.min(axis=1)
    with np.errstate(divide="ignore"):
        diameter = np.maximum(1.0 / best, 1.0 / (1.0 - worst))

    def value(horizon: int) -> FloatArray:
        pulled: FloatArray = max(horizon - 1, 0) * best
        return pulled

    return Known(
        gain=best,
        bias=np.tile([0.0, 1.0], (len(table), 1)),
        diameter=diameter,
        separation=separation_of_rows(table),
        value=value,
    )


def best_arm(members: int = 2, e: float = 0.1) -> SimulatorClass:
    """Return M models over M arms: arm m of model m has mean 1/2 + e, others 1/2.

    The class of the bandit lower bound (theory 4.10); two models are theory row 15.
    """
    means = _best_arm_means(members, e)
    return bandit(means, model_names=[f"best arm {m}" for m in range(members)])


def best_arm_known(members: int = 2, e: float = 0.1) -> Known:
    """Return the closed forms of a bandit, and W* of theory row 15 for two models."""
    plain = bandit_known(_best_arm_means(members, e))
    small = {
        0: 0.0,
        1: 0.0,
        2: 1 / 2 + e / 2,
        3: 1 + e + e**2 / 2,
        4: 3 / 2 + 3 * e / 2 + e**2 + e**3 / 2,
    }

    def oracle_value(horizon: int) -> float | None:
        return small.get(horizon) if members == 2 else None

    return Known(
        gain=plain.gain,
        bias=plain.bias,
        diameter=plain.diameter,
        separation=plain.separation,
        value=plain.value,
        oracle_value=oracle_value,
    )


def needle(members: int = 4) -> SimulatorClass:
    """Return M models over M arms; only arm m of model m ever wins (theory row 17)."""
    members = checked_whole("members", members, least=2, most=1_000)
    names = [f"needle {m}" for m in range(members)]
    return bandit(np.eye(members), model_names=names)


def needle_known(members: int = 4) -> Known:
    """Return rho = 1, D = 1, separation 2 and W* of theory rows 17-18."""
    members = checked_whole("members", members, least=2, most=1_000)
    plain = bandit_known(np.eye(members))

    def oracle_value(horizon: int) -> float:
        pulls = horizon - 1
        found = sum(max(pulls - j + 1, 0) for j in range(1, members + 1))
        return found / members

    return Known(
        gain=plain.gain,
        bias=plain.bias,
        diameter=plain.diameter,
        separation=2.0,
        value=plain.value,
        oracle_value=oracle_value,
    )


def checked_means(means: npt.ArrayLike) -> FloatArray:
    """Return means as (models, arms), each a probability."""
    try:
        table = np.atleast_2d(np.asarray(means, np.float64))
    except (TypeError, ValueError) as error:
        raise InvalidInstance(
            f"means {means!r} are not a table of numbers",
            hint="give every model the same number of arms, as in [[.5, .6], [.6, .5]]",
        ) from error
    if table.ndim != 2 or table.size == 0 or len(table) > MOST_MEMBERS:
        raise InvalidInstance(
            f"means have shape {table.shape}",
            hint=f"means are (models, arms), with at most {MOST_MEMBERS} models",
        )
    for m, a in np.argwhere(~((table >= 0.0) & (table <= 1.0))):
        checked_number(f"mean of arm {a} in model {m}", table[m, a], PROBABILITY)
    return table


def _best_arm_means(members: int, e: float) -> FloatArray:
    members = checked_whole("members", members, least=2, most=1_000)
    e = checked_number("e", e, HALF)
    means: FloatArray = 0.5 + e * np.eye(members)
    return means
