"""Smoothness of a class without a policy: what every policy has, what V* really has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.records import Certified

if TYPE_CHECKING:
    from simgap.arrays import FloatArray
    from simgap.complexity import Metric, Separation
    from simgap.mdp import SimulatorClass

MOST_BACKUPS = 2e10  # horizon x entries of all kernels: about half a minute
NO_CONSTANT = (
    "no constant of smoothness holds for every policy: rewards or the start depend on "
    "the model, whatever the distance of the kernels"
)
NOT_MEASURED = (
    "optimal values are not computed for a horizon this long: their smoothness is "
    "bounded by the diameter instead"
)


@final
@dataclass(frozen=True, slots=True)
class MetricSmoothness:
    """Lipschitz constants over the whole class, in original units of reward."""

    metric: str
    optimal: Certified  # of V*_1 at the start
    optimal_pair: tuple[int, int] | None  # models that need it, if it was measured
    policy_at_most: float | None  # L of Assumption 3, for any policy
    gap_at_most: float | None  # L_gap of the repaired Lemma 1, for any policy


@final
@dataclass(frozen=True, slots=True)
class SmoothnessAnswer:
    """What is known of L and L_gap before any policy is chosen (spec 4.1 c)."""

    metrics: tuple[MetricSmoothness, ...]


def smoothness_answer(
    simulators: SimulatorClass,
    compared: Separation,
    diameter: float,
    horizon: int,
    notes: list[str],
) -> SmoothnessAnswer:
    """Return constants for every distance that the class has.

    A constant for the greatest L1 distance serves another distance d after a factor,
    the greatest ratio of the two over pairs of models.
    """
    from simgap.complexity import (
        AverageL1,
        GreatestL1,
        ParameterDistance,
        model_distances,
        optimal_constant,
        policy_constant,
    )

    rewards = simulators.rewards
    span = float(rewards.max() - rewards.min()) * simulators.units.factor
    alike = bool((rewards == rewards[:1]).all()) and _same_start(simulators)
    rises = _rises_of_optimal_values(simulators, compared.distance, horizon, alike)
    if not alike:
        notes.append(NO_CONSTANT)
    if rises is None:
        notes.append(NOT_MEASURED)
    metrics: list[Metric] = [GreatestL1(), AverageL1()]
    if simulators.theta.names:
        metrics.append(ParameterDistance())
    found = []
    for metric in metrics:
        apart = model_distances(simulators, metric, compared=compared).matrix
        factor = _steepest(compared.distance, apart)[0]
        policy = _times(policy_constant(horizon, reward_span=span), factor)
        known = _times(optimal_constant(horizon, diameter, reward_span=span), factor)
        optimal, pair = Certified(0.0, known), None
        if rises is not None:
            least, pair = _steepest(rises[0], apart)
            optimal = Certified(least, _steepest(rises[1], apart)[0])
        elif not alike:
            optimal = Certified(None, None)
        gap = None if optimal.upper is None else policy + optimal.upper
        found.append(
            MetricSmoothness(
                metric=metric.name,
                optimal=optimal,
                optimal_pair=pair,
                policy_at_most=policy if alike else None,
                gap_at_most=gap if alike else None,
            )
        )
    return SmoothnessAnswer(tuple(found))


def _rises_of_optimal_values(
    simulators: SimulatorClass, distance: FloatArray, horizon: int, alike: bool
) -> tuple[FloatArray, FloatArray] | None:
    """Return the least and greatest |V*_1 - V*_2| of all pairs, in original units.

    Models with equal kernels, rewards and starts have equal values, without error.
    """
    import numpy as np

    from simgap.planning import optimal_values

    kernel = simulators.transitions
    if float(horizon) * kernel.nonzeros * len(simulators) > MOST_BACKUPS:
        return None
    found, factor = optimal_values(simulators, horizon), simulators.units.factor
    rise = factor * np.abs(found.start[:, None] - found.start[None, :])
    error = factor * (found.error[:, None] + found.error[None, :])
    same = (distance == 0.0) & alike | np.eye(len(simulators), dtype=np.bool_)
    low = np.where(same, 0.0, np.maximum(rise - error, 0.0))
    return low, np.where(same, 0.0, rise + error)


def _steepest(
    rises: FloatArray, distance: FloatArray
) -> tuple[float, tuple[int, int] | None]:
    """Return the greatest rise over distance and its pair; a rise over none is inf."""
    import numpy as np

    slope = np.where(rises > 0.0, np.inf, 0.0)
    np.divide(rises, distance, out=slope, where=distance > 0.0)
    i, j = divmod(int(np.argmax(slope)), len(slope))
    return float(slope[i, j]), (i, j) if slope[i, j] > 0.0 else None


def _times(constant: float, factor: float) -> float:
    return constant * factor if constant > 0.0 else 0.0  # 0 * inf is not a number


def _same_start(simulators: SimulatorClass) -> bool:
    return bool((simulators.start == simulators.start[:1]).all())
