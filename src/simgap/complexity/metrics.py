"""Distances between models, for neighbourhoods of the real model (Assumption 3).

The paper leaves the distance open. The library offers four: the L1 distance of kernels
where they differ most, the same on average over (s, a), the distance of the parameters
from which the models were made, and the discrete distance, 1 for any two different
models, which gives back the results for finite classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, final

import numpy as np

from simgap.arrays import FloatArray, owned, read_only
from simgap.complexity.separation import Separation, separation
from simgap.errors import InvalidArgument
from simgap.mdp import SimulatorClass


@final
@dataclass(frozen=True, slots=True)
class GreatestL1:
    """max over (s, a) of || P_1 - P_2 ||_1, the distance of Assumption 2."""

    @property
    def name(self) -> str:
        return "greatest L1"


@final
@dataclass(frozen=True, slots=True)
class AverageL1:
    """The mean of || P_1 - P_2 ||_1 over all (s, a)."""

    @property
    def name(self) -> str:
        return "average L1"


@final
@dataclass(frozen=True, slots=True)
class ParameterDistance:
    """Euclidean distance of parameters, each in units of its own.

    Without units a parameter is measured in its range over the class, so that the
    whole range is at distance 1. One that never varies adds nothing.
    """

    units: tuple[float, ...] = ()  # one per parameter, positive

    @property
    def name(self) -> str:
        return "parameters"


@final
@dataclass(frozen=True, slots=True)
class Discrete:
    """1 for two different models, whatever they are."""

    @property
    def name(self) -> str:
        return "discrete"


Metric = GreatestL1 | AverageL1 | ParameterDistance | Discrete


@final
@dataclass(frozen=True, slots=True, eq=False)
class ModelDistances:
    """d(M_1, M_2) for all pairs of models."""

    metric: Metric
    matrix: FloatArray  # (M, M), symmetric, 0 on the diagonal

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", read_only(self.matrix))


def model_distances(
    simulators: SimulatorClass,
    metric: Metric,
    *,
    compared: Separation | None = None,
) -> ModelDistances:
    """Return the distances between all models; `compared` saves comparing kernels."""
    match metric:
        case GreatestL1():
            return ModelDistances(metric, (compared or separation(simulators)).distance)
        case AverageL1():
            known = compared or separation(simulators)
            return ModelDistances(metric, known.average_distance)
        case ParameterDistance():
            return ModelDistances(metric, _of_parameters(simulators, metric))
        case Discrete():
            return ModelDistances(metric, owned(1.0 - np.eye(len(simulators))))
        case _:
            assert_never(metric)


def _of_parameters(simulators: SimulatorClass, metric: ParameterDistance) -> FloatArray:
    theta = simulators.theta.values
    if theta.shape[1] == 0:
        raise InvalidArgument(
            "the models have no parameters to measure a distance by",
            hint="build the class with Parameters, or use GreatestL1()",
        )
    units = np.array(metric.units) if metric.units else np.ptp(theta, axis=0)
    if units.shape != theta.shape[1:] or not (np.isfinite(units) & (units >= 0)).all():
        raise InvalidArgument(
            f"{metric.units} as units of the parameters {simulators.theta.names}",
            hint="give one positive number per parameter, or none",
        )
    if metric.units and not (units > 0.0).all():
        raise InvalidArgument(
            f"a unit of 0 among {metric.units}",
            hint="units are positive; leave them out to use the ranges",
        )
    varies = units > 0.0
    scaled = theta[:, varies] / units[varies]
    squares = np.zeros((len(theta), len(theta)))
    for each in scaled.T:
        squares += (each[:, None] - each[None, :]) ** 2
    distance: FloatArray = owned(np.sqrt(squares))
    return distance
