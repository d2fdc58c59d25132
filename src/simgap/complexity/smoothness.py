"""Smoothness near the real model, of values and of gaps (Assumption 3, errata E9).

Let C be the models within eps of the real model M*. The paper asks that the value of
the oracle's policy be Lipschitz on C,

    |V_1 - V_2| <= L d(M_1, M_2) .

Errata E9: this is not enough. Proposition 2 has L = 0 and a gap that grows with H. The
argument needs that the *gap* does not decrease too fast around M*,

    gap(M*) - gap(M) <= L_gap d(M, M*)   for M in C (theory 4.1c).

On a finite class both constants are maxima over pairs of models, and the pair is found
with them. For the greatest L1 distance there are also constants that hold for every
class; they need only numbers and assume that rewards and the start do not depend on the
model.

Distances between models, for neighbourhoods of the real model (Assumption 3).

The paper leaves the distance open. The library offers four: the L1 distance of kernels
where they differ most, the same on average over (s, a), the distance of the parameters
from which the models were made, and the discrete distance, 1 for any two different
models, which gives back the results for finite classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan
from typing import assert_never, final

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray, IndexArray, owned, read_only
from simgap.complexity.separation import Separation, separation
from simgap.errors import InvalidArgument
from simgap.mdp import SimulatorClass

TIE = 1e-12  # of the radius: distances so little above it are inside


@final
@dataclass(frozen=True, slots=True)
class Lipschitz:
    """The least constant that holds, and the two models that need it."""

    constant: float  # inf: different numbers at distance 0
    pair: tuple[int, int] | None  # None: no pair asks for more than 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Smoothness:
    """How smooth a policy's values and gaps are around one model."""

    real: int
    radius: float
    members: IndexArray  # the neighbourhood C, with the real model
    mass: float  # nu(C)
    value: Lipschitz  # L, over all pairs in C
    gap: Lipschitz  # L_gap, between the real model and models of C

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", read_only(self.members, np.int32))


def smoothness(
    distances: ModelDistances,
    values: npt.ArrayLike,
    gaps: npt.ArrayLike,
    *,
    real: int,
    radius: float,
    prior: npt.ArrayLike,
) -> Smoothness:
    """Return L and L_gap of a policy on the ball of one model (Assumption 3).

    `values` (M,) are V^pi and `gaps` (M,) the gaps of the policy in every model. The
    constants are exact for these numbers. A radius of 0 asks for a real model with
    positive prior; at other radii a neighbourhood without mass is reported as such.
    """
    matrix = distances.matrix
    count = len(matrix)
    value, gap, weights = (
        _per_model(given, count, what)
        for given, what in ((values, "values"), (gaps, "gaps"), (prior, "prior"))
    )
    if not 0 <= real < count:
        raise InvalidArgument(
            f"there is no model {real} in a class of {count}",
            hint=f"models are numbered 0 to {count - 1}",
        )
    if isnan(radius) or radius < 0.0:
        raise InvalidArgument(
            f"a neighbourhood of radius {radius!r}", hint="it is 0 or more"
        )
    if (weights < 0.0).any() or abs(float(weights.sum()) - 1.0) > 1e-9:
        raise InvalidArgument(
            "the prior is not a distribution",
            hint="give nonnegative numbers with sum 1, one per model",
        )
    members = np.flatnonzero(matrix[real] <= radius * (1.0 + TIE))
    mass = min(float(weights[members].sum()), 1.0)
    if radius == 0.0 and mass == 0.0:
        raise InvalidArgument(
            f"model {real} has prior 0 and the radius is 0",
            hint="choose a radius that reaches models the prior knows",
        )
    inside = matrix[np.ix_(members, members)]
    return Smoothness(
        real=int(real),
        radius=float(radius),
        members=owned(members.astype(np.int32)),
        mass=mass,
        value=_steepest(np.abs(_differences(value[members])), inside, members),
        gap=_around(gap[real] - gap[members], matrix[real, members], members, real),
    )


def lipschitz(distances: ModelDistances, values: npt.ArrayLike) -> Lipschitz:
    """Return the least L with |v_1 - v_2| <= L d(M_1, M_2) over the whole class."""
    count = len(distances.matrix)
    value = _per_model(values, count, "values")
    apart = np.abs(_differences(value))
    return _steepest(apart, distances.matrix, np.arange(count))


def policy_constant(horizon: int, *, reward_span: float = 1.0) -> float:
    """Return H(H-1)/4 times max R - min R: L of any policy (theory 4.1c).

    For the greatest L1 distance, and for policies that remember anything they like.
    """
    _check_numbers(horizon, reward_span)
    return horizon * (horizon - 1) / 4.0 * reward_span


def optimal_constant(
    horizon: int, diameter: float, *, reward_span: float = 1.0
) -> float:
    """Return a Lipschitz constant of optimal values, in terms of the diameter.

    (H-1) D (max R - min R) / 2 with the smaller diameter of two models, and never more
    than the constant of all policies (theory 4.1c). Greatest L1 distance.
    """
    _check_numbers(horizon, reward_span)
    if isnan(diameter) or diameter < 0.0:
        raise InvalidArgument(
            f"a diameter of {diameter!r}", hint="it is 0 or more, or infinite"
        )
    every = policy_constant(horizon, reward_span=reward_span)
    if diameter == inf:
        return every
    return min(every, max(horizon - 1, 0) * diameter * reward_span / 2.0)


def gap_constant(horizon: int, diameter: float, *, reward_span: float = 1.0) -> float:
    """Return L + L*, which serves as L_gap for any policy (theory 4.1c)."""
    return policy_constant(horizon, reward_span=reward_span) + optimal_constant(
        horizon, diameter, reward_span=reward_span
    )


def _differences(values: FloatArray) -> FloatArray:
    return np.asarray(values[:, None] - values[None, :])


def _steepest(
    rises: FloatArray, distance: FloatArray, members: npt.NDArray[np.intp]
) -> Lipschitz:
    """Return the greatest ratio over pairs; equal numbers ask for nothing."""
    slope = _ratio(rises, distance)
    at = int(np.argmax(slope))
    if not slope.flat[at] > 0.0:
        return Lipschitz(0.0, None)
    i, j = divmod(at, len(slope))
    return Lipschitz(float(slope[i, j]), (int(members[i]), int(members[j])))


def _around(
    rises: FloatArray, distance: FloatArray, members: npt.NDArray[np.intp], real: int
) -> Lipschitz:
    slope = _ratio(np.maximum(rises, 0.0), distance)
    at = int(np.argmax(slope))
    if not slope[at] > 0.0:
        return Lipschitz(0.0, None)
    return Lipschitz(float(slope[at]), (real, int(members[at])))


def _ratio(rises: FloatArray, distance: FloatArray) -> FloatArray:
    """Return rises / distance, 0 for 0 / 0 and inf for a rise at distance 0."""
    out = np.where(rises > 0.0, inf, 0.0)
    np.divide(rises, distance, out=out, where=distance > 0.0)
    return out


def _per_model(given: npt.ArrayLike, count: int, what: str) -> FloatArray:
    array = np.asarray(given, np.float64)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise InvalidArgument(
            f"{what} of shape {array.shape} for {count} models",
            hint=f"give one finite number per model: ({count},)",
        )
    return array


def _check_numbers(horizon: int, reward_span: float) -> None:
    if isinstance(horizon, bool) or int(horizon) != horizon or horizon < 0:
        raise InvalidArgument(
            f"a horizon of {horizon!r}", hint="it is a whole number of steps, 0 or more"
        )
    if not 0.0 <= reward_span < inf:
        raise InvalidArgument(
            f"rewards that differ by {reward_span!r}", hint="it is max R - min R"
        )


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
