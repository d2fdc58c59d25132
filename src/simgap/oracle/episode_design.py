"""Which episodes an estimate simulates: a share of them for every model.

If models are many and episodes few, neighbours are one stratum with models drawn by
their prior: still independent episodes of one law, so that means and variances of a
stratum are estimated as for a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.oracle.loss_form import LossForm

FEW = 8  # episodes of a model, at least
ALONE = 40  # models up to which each is a stratum, whatever episodes were asked for
FEWEST_STRATA = 8


@final
@dataclass(frozen=True, slots=True, eq=False)
class EpisodeDesign:
    """Which episodes to simulate, n of them."""

    models: IndexArray  # (n,)
    stratum: IndexArray  # (n,)
    quantiles: FloatArray  # (n, 2), of the start law: from where, and how wide


def of_models(counts: OffsetArray) -> EpisodeDesign:
    """Return counts[m] episodes of every model, spread over its start law."""
    models = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    share = 1.0 / np.repeat(np.maximum(counts, 1), counts)
    place = np.arange(models.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return EpisodeDesign(models, models, np.stack([place * share, share], axis=1))


def of_neighbours(
    prior: FloatArray, strata: int, each: int, seed: int
) -> tuple[EpisodeDesign, FloatArray]:
    """Return `each` episodes of models drawn from each of the groups, and weights."""
    rng = np.random.default_rng(int(seed) % 2**64)
    groups = np.array_split(np.flatnonzero(prior > 0.0), strata)
    weights = np.array([prior[group].sum() for group in groups])
    models = np.concatenate(
        [
            rng.choice(group, each, p=prior[group] / weight)
            for group, weight in zip(groups, weights, strict=True)
        ]
    )
    whole = np.broadcast_to(np.array([0.0, 1.0]), (models.size, 2))
    return (
        EpisodeDesign(
            models.astype(np.int32),
            np.repeat(np.arange(strata, dtype=np.int32), each),
            np.ascontiguousarray(whole),
        ),
        weights / weights.sum(),
    )


def number_of_strata(form: LossForm, episodes: int) -> int | None:
    """Return how many groups of neighbours episodes are shared out over; None: models.

    Every model has its own episodes if models are few or episodes many.
    """
    likely = int((form.latent.prior > 0.0).sum())
    if likely <= ALONE or episodes >= FEW * likely:
        return None
    return min(likely, max(FEWEST_STRATA, episodes // FEW))
