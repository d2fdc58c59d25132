"""Smoothness of a class without a policy: what every policy has, what V* really has."""

from __future__ import annotations

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.complexity import (
    AverageL1,
    GreatestL1,
    Metric,
    ParameterDistance,
    Separation,
    model_distances,
    optimal_constant,
    policy_constant,
)
from simgap.intervals import Certified
from simgap.mdp import SimulatorClass
from simgap.planning import optimal_values
from simgap.records import ClassSmoothness, MetricSmoothness, Notes

MOST_BACKUPS = 2e10  # horizon x entries of all kernels: about half a minute
NOT_MEASURED = (
    "optimal values are not computed for a horizon this long: how smooth they are is "
    "bounded by the diameter instead"
)


def class_smoothness(
    simulators: SimulatorClass,
    compared: Separation,
    diameter: float,
    horizon: int,
    notes: Notes,
) -> ClassSmoothness:
    """Return constants for every distance that the class has.

    Each is the greatest ratio over pairs of models: of what values may differ by to
    the distance of the two.
    """
    rewards = simulators.rewards
    span = float(rewards.max() - rewards.min())
    beside = _beside_kernels(simulators, horizon, span)
    policy = compared.distance * policy_constant(horizon, reward_span=span) + beside
    optimal = _optimal_values(simulators, horizon, same=policy == 0.0)
    if optimal is None:
        notes.add("values-not-computed", NOT_MEASURED)
        slope = optimal_constant(horizon, diameter, reward_span=span)
        optimal = 0.0 * beside, compared.distance * slope + beside
    metrics: list[Metric] = [GreatestL1(), AverageL1()]
    if simulators.theta.names:
        metrics.append(ParameterDistance())
    found = []
    for metric in metrics:
        apart = model_distances(simulators, metric, compared=compared).matrix
        least, pair = _steepest(optimal[0], apart)
        most, steepest = _steepest(optimal[1], apart)[0], _steepest(policy, apart)[0]
        found.append(
            MetricSmoothness(
                metric=metric.name,
                optimal=Certified(least, most),
                optimal_pair=pair,
                policy_at_most=steepest,
                gap_at_most=steepest + most,
            )
        )
    return ClassSmoothness(tuple(found))


def _beside_kernels(
    simulators: SimulatorClass, horizon: int, span: float
) -> FloatArray:
    """Return how much rewards and starts that depend on the model add, (M, M).

    Rewards that differ by r add H r (theory 7.2). Starts at distance d in L1 add d / 2
    times the greatest difference of values, H times that of rewards.
    """
    added = np.zeros((len(simulators), len(simulators)))
    if not simulators.shared_rewards:
        flat = simulators.rewards.reshape(len(simulators), -1)
        for at, row in enumerate(flat):
            added[at] += horizon * np.abs(flat - row).max(axis=1)
    if len(simulators.start) > 1:
        laws = np.stack([simulators.start_law(m) for m in range(len(simulators))])
        for at, law in enumerate(laws):
            added[at] += 0.5 * np.abs(laws - law).sum(axis=1) * horizon * span
    return added


def _optimal_values(
    simulators: SimulatorClass, horizon: int, *, same: BoolArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return the least and greatest |V*_1 - V*_2| of all pairs.

    None if that takes too long. Models that are the same have the same values.
    """
    kernel = simulators.transitions
    if float(horizon) * kernel.nonzeros * len(simulators) > MOST_BACKUPS:
        return None
    found = optimal_values(simulators, horizon)
    rise = np.abs(found.start[:, None] - found.start[None, :])
    error = found.error[:, None] + found.error[None, :]
    low = np.where(same, 0.0, np.maximum(rise - error, 0.0))
    return low, np.where(same, 0.0, rise + error)


def _steepest(
    rises: FloatArray, distance: FloatArray
) -> tuple[float, tuple[int, int] | None]:
    """Return the greatest rise over distance and its pair; a rise over none is inf."""
    slope = np.where(rises > 0.0, np.inf, 0.0)
    np.divide(rises, distance, out=slope, where=distance > 0.0)
    i, j = divmod(int(np.argmax(slope)), len(slope))
    return float(slope[i, j]), (i, j) if slope[i, j] > 0.0 else None
