"""What is planned of a class already: several answers about it share one bracket.

The oracle is bracketed, and two plans of it end in two brackets of one loss. Answers
that are read together are given the same plan, and tell the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.oracle import (
    OracleResult,
    Progress,
    ShortMemoryPlan,
    Solver,
    domain_randomization_oracle,
    spread_over,
)
from simgap.records.oracle import Oracle
from simgap.records.pair_prices import PairPrices
from simgap.text import number

KnownOracle = OracleResult | Oracle  # of planning, or the answer of `simgap.oracle`
Tell = Callable[[str], None]  # progress in a few words
MOST_PRICED = 60  # models in the tables of a record


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlannedClass:
    """The oracle of a class and a horizon, and the best policy without memory."""

    oracle: OracleResult
    memoryless: ShortMemoryPlan
    value_of_memory: Certified


def planned_oracle(
    latent: LatentMDP,
    horizon: int | None = None,
    *,
    discount: float | None = None,
    solver: Solver,
    progress: Tell | None = None,
) -> OracleResult:
    """Return the oracle of a class; `progress` is told how its bracket closes."""
    return domain_randomization_oracle(
        latent,
        horizon=horizon,
        discount=discount,
        solver=solver,
        progress=following(progress),
    )


def following(tell: Tell | None) -> Callable[[Progress], None] | None:
    """Return what says in a few words how the bracket of a plan closes."""
    if tell is None:
        return None

    def follow(now: Progress) -> None:
        low, high = number(now.lower, 4), number(now.upper, 4)
        tell(f"{now.seconds:.0f} s: loss in [{low}, {high}], {now.doing}")

    return follow


def checked_oracle(
    known: KnownOracle | None, latent: LatentMDP, horizon: int | None
) -> OracleResult | None:
    """Return an oracle that is given, or say why it is not that of this question."""
    if known is None:
        return None
    oracle = known.result if isinstance(known, Oracle) else known
    if not isinstance(oracle, OracleResult):
        what = "that was read from a file" if oracle is None else f": {type(oracle)}"
        raise InvalidArgument(
            f"an oracle {what}",
            hint="give what simgap.oracle or domain_randomization_oracle returned, "
            "or leave it out and it is planned",
        )
    if oracle.horizon != horizon:
        raise InvalidArgument(
            f"the oracle was planned for {oracle.horizon} steps, not {horizon}",
            hint="plan it for this horizon, or leave it out",
        )
    if oracle.prior.tolist() != latent.prior.tolist():
        raise InvalidArgument(
            "the oracle was planned for another prior",
            hint="plan it for this class, or leave it out",
        )
    return oracle


def recorded_prices(
    lower: FloatArray, upper: FloatArray, compared: OffsetArray | None
) -> PairPrices:
    """Return the prices of all models, or of those compared, at most MOST_PRICED."""
    models = np.arange(len(lower))
    if len(lower) > MOST_PRICED:
        known = models if compared is None else compared
        models = known[spread_over(known.size, MOST_PRICED)]
    block = np.ix_(models, models)
    return PairPrices(
        lower=tuple(map(tuple, lower[block].tolist())),
        upper=tuple(map(tuple, upper[block].tolist())),
        models=tuple(models.tolist()),
    )
