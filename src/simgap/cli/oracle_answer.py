"""What `simgap oracle` prints as JSON: the result in the model's original rewards.

Values of an episode are offset * steps + factor * stored; with a discount an episode
counts 1 / (1 - discount) steps. Gaps are differences of values: only the factor enters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nextafter
from typing import TYPE_CHECKING, final

from simgap.records import Certainty, Certified

if TYPE_CHECKING:
    from simgap.arrays import FloatArray, OffsetArray
    from simgap.mdp import LatentMDP, RewardUnits
    from simgap.oracle.result import OracleResult
    from simgap.statistics import Estimate

MOST_PRICED = 60  # models in the tables of a record

CERTAINTY: dict[str, Certainty] = {
    "lower": "certified",
    "upper": "certified",
    "average_gap": "certified",
    "worst_gap": "certified",
    "optimal": "certified",
    "value": "certified",
    "gap": "certified",
    "gap_interval": "certified",
    "pair_prices": "certified",
    "estimated_gap": "estimated",
}


@final
@dataclass(frozen=True, slots=True)
class Scale:
    """Stored numbers to original ones, for totals of `steps` rewards."""

    units: RewardUnits
    steps: float

    def total(self, stored: float) -> float:
        """Return a value in original units."""
        return self.units.total(stored, self.steps)

    def gap(self, stored: float) -> float:
        """Return a difference of values in original units."""
        return self.units.factor * stored

    def value_bounds(self, bounds: Certified) -> Certified:
        """Return bounds of a value, rounded outwards."""
        if (self.units.offset, self.units.factor) == (0.0, 1.0):
            return bounds
        return _outwards(bounds, self.total)

    def gap_bounds(self, bounds: Certified) -> Certified:
        """Return bounds of a gap, rounded outwards; a gap of 0 is 0 in all units."""
        if self.units.factor == 1.0 or bounds.lower is None or bounds.upper is None:
            return bounds
        moved = _outwards(bounds, self.gap)
        return Certified(
            0.0 if bounds.lower == 0.0 else moved.lower,
            0.0 if bounds.upper == 0.0 else moved.upper,
        )

    def value_estimate(self, found: Estimate) -> Estimate:
        """Return an estimated value."""
        return replace(
            found,
            estimate=self.total(found.estimate),
            lower=self.total(found.lower),
            upper=self.total(found.upper),
        )

    def gap_estimate(self, found: Estimate) -> Estimate:
        """Return an estimated gap."""
        return replace(
            found,
            estimate=self.gap(found.estimate),
            lower=self.gap(found.lower),
            upper=self.gap(found.upper),
        )

    def gap_found(self, found: Certified | Estimate) -> Certified | Estimate:
        """Return a gap of either kind."""
        if isinstance(found, Certified):
            return self.gap_bounds(found)
        return self.gap_estimate(found)

    def gap_table(self, found: FloatArray) -> tuple[tuple[float, ...], ...]:
        """Return a table of gaps."""
        return tuple(tuple(self.gap(float(gap)) for gap in row) for row in found)


@final
@dataclass(frozen=True, slots=True)
class OracleModel:
    """How the certified policy does if this model is the real one."""

    name: str
    prior: float
    optimal: float  # V* of an agent that knows the model
    value: float  # of the certified policy, exact up to rounding
    gap: float  # optimal - value
    relative_gap: float | None  # gap / |optimal|, None if that is 0
    gap_interval: Certified  # holds the gap of every optimal policy


@final
@dataclass(frozen=True, slots=True)
class PairPrices:
    """What it costs not to know one model from another, (K, K) each."""

    lower: tuple[tuple[float, ...], ...]
    upper: tuple[tuple[float, ...], ...]
    models: tuple[int, ...]  # (K,), the models that the tables are about


@final
@dataclass(frozen=True, slots=True)
class TracePoint:
    """The bracket of the average gap at one time."""

    seconds: float
    lower: float
    upper: float


@final
@dataclass(frozen=True, slots=True)
class OracleNumbers:
    """The oracle of a latent MDP, without times: the same on every run if solved."""

    horizon: int | None
    discount: float | None
    lower: float  # of W*
    upper: float
    informed: float  # sum_m nu_m V*_m, of an agent that is told the model
    average_gap: Certified
    estimated_gap: Estimate
    worst_gap: float
    least_worst_gap: float | None
    outcome: str
    solver: str
    models: tuple[OracleModel, ...]
    pair_prices: PairPrices
    nodes: int
    rounding: float


def oracle_numbers(latent: LatentMDP, result: OracleResult) -> OracleNumbers:
    """Return a result in the original units of the model's rewards."""
    scale = scale_of(latent, result)
    value, gap = scale.value_bounds(result.value), scale.gap_bounds(result.average_gap)
    assert value.lower is not None
    assert value.upper is not None
    return OracleNumbers(
        horizon=result.horizon,
        discount=None if result.horizon is not None else result.discount,
        lower=value.lower,
        upper=value.upper,
        informed=scale.total(float(latent.prior @ result.optimal)),
        average_gap=gap,
        estimated_gap=scale.gap_estimate(result.estimated_gap),
        worst_gap=scale.gap(result.worst_gap),
        least_worst_gap=None
        if result.least_worst_gap is None
        else scale.gap(result.least_worst_gap),
        outcome=result.outcome.value,
        solver=result.solver,
        models=_models(latent, result, scale),
        pair_prices=pair_prices(
            result.pair_prices_lower, result.pair_prices_upper, result.compared, scale
        ),
        nodes=result.statistics.nodes,
        rounding=scale.gap(result.statistics.rounding),
    )


def pair_prices(
    lower: FloatArray, upper: FloatArray, compared: OffsetArray | None, scale: Scale
) -> PairPrices:
    """Return the prices of all models, or of those compared, at most MOST_PRICED."""
    import numpy as np

    from simgap.oracle.part_of_class import spread_over

    every, known = np.arange(len(lower)), compared
    if len(lower) > MOST_PRICED:
        some = every if known is None else known
        every = some[spread_over(some.size, MOST_PRICED)]
    block = np.ix_(every, every)
    return PairPrices(
        lower=scale.gap_table(lower[block]),
        upper=scale.gap_table(upper[block]),
        models=tuple(every.tolist()),
    )


def trace_points(latent: LatentMDP, result: OracleResult) -> tuple[TracePoint, ...]:
    """Return how the bracket of the average gap closed, in original units."""
    scale = scale_of(latent, result)
    return tuple(
        TracePoint(each.seconds, scale.gap(each.lower), scale.gap(each.upper))
        for each in result.statistics.trace
    )


def scale_of(latent: LatentMDP, result: OracleResult) -> Scale:
    """Return the units of a result's numbers."""
    steps = (
        1.0 / (1.0 - result.discount)
        if result.horizon is None
        else float(result.horizon)
    )
    return Scale(latent.simulators.units, steps)


def _models(
    latent: LatentMDP, result: OracleResult, scale: Scale
) -> tuple[OracleModel, ...]:
    found = []
    for at, name in enumerate(latent.simulators.model_names):
        optimal, gap = (
            scale.total(float(result.optimal[at])),
            scale.gap(float(result.gaps[at])),
        )
        low, high = (float(end) for end in result.gap_intervals[at])
        found.append(
            OracleModel(
                name=name,
                prior=float(latent.prior[at]),
                optimal=optimal,
                value=scale.total(float(result.values[at])),
                gap=gap,
                relative_gap=gap / abs(optimal) if optimal != 0.0 else None,
                gap_interval=scale.gap_bounds(Certified(low, high)),
            )
        )
    return tuple(found)


def _outwards(bounds: Certified, change: Callable[[float], float]) -> Certified:
    if bounds.lower is None or bounds.upper is None:
        return bounds
    ends = change(bounds.lower), change(bounds.upper)
    for _ in range(2):  # two roundings of the conversion
        ends = nextafter(ends[0], -inf), nextafter(ends[1], inf)
    return Certified(*ends)
