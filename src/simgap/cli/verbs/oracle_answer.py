"""What `simgap oracle` prints as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.intervals import Certified
from simgap.records import Certainty, PairPrices

if TYPE_CHECKING:
    from simgap.arrays import FloatArray
    from simgap.intervals import Estimate
    from simgap.mdp import LatentMDP
    from simgap.oracle import OracleResult

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
    """Return a result as a record."""
    from simgap.answers import recorded_prices

    value = result.value
    return OracleNumbers(
        horizon=result.horizon,
        discount=None if result.horizon is not None else result.discount,
        lower=value.lower,
        upper=value.upper,
        informed=float(latent.prior @ result.optimal),
        average_gap=result.average_gap,
        estimated_gap=result.estimated_gap,
        worst_gap=result.worst_gap,
        least_worst_gap=result.least_worst_gap,
        outcome=result.outcome.value,
        solver=result.solver,
        models=_models(latent, result),
        pair_prices=recorded_prices(
            result.pair_prices_lower, result.pair_prices_upper, result.compared
        ),
        nodes=result.statistics.nodes,
        rounding=result.statistics.rounding,
    )


def trace_points(result: OracleResult) -> tuple[TracePoint, ...]:
    """Return how the bracket of the average gap closed."""
    return tuple(
        TracePoint(each.seconds, each.lower, each.upper)
        for each in result.statistics.trace
    )


def table_of(found: FloatArray) -> tuple[tuple[float, ...], ...]:
    """Return a table of numbers as rows."""
    return tuple(tuple(row) for row in found.tolist())


def _models(latent: LatentMDP, result: OracleResult) -> tuple[OracleModel, ...]:
    found = []
    for at, name in enumerate(latent.simulators.model_names):
        optimal, gap = float(result.optimal[at]), float(result.gaps[at])
        low, high = (float(end) for end in result.gap_intervals[at])
        found.append(
            OracleModel(
                name=name,
                prior=float(latent.prior[at]),
                optimal=optimal,
                value=float(result.values[at]),
                gap=gap,
                relative_gap=gap / abs(optimal) if optimal != 0.0 else None,
                gap_interval=Certified(low, high),
            )
        )
    return tuple(found)
