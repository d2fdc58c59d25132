"""Prices of pairs of models, as records have them: of some models if there are many."""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.oracle import spread_over
from simgap.records import PairPrices

MOST_PRICED = 60  # models in the tables of a record


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
