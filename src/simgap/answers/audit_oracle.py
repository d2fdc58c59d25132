"""The oracle of a class of any size: large classes are planned on a part of them.

Planning compares models in pairs, so that hundreds of them take minutes. A large class
is thinned: some models, evenly spread, stand for their neighbours and take over their
weights. The policy planned for them is then evaluated exactly in every model, which
bounds the oracle's loss from above. From below: no gap is negative, so that with own
weights nu and taken-over weights w of the chosen models

    min over policies of sum_m nu_m gap_m  >=  min (nu / w)  times their oracle's loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.answers.weighted_models import part_of_class
from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import Outcome
from simgap.oracle.settings import AutoOracle
from simgap.oracle.watch import Progress
from simgap.records import Certified

MOST_PLANNED = 40  # models with weight that are planned for at once

Report = Callable[[Progress], None] | None


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlannedOracle:
    """A bracket of the oracle's average gap and a policy's gap in every model."""

    average_gap: Certified
    gaps: FloatArray | None  # (M,), NaN where the policy has no rule; None: unknown
    outcome: Outcome
    planned: int  # models that were planned for


def planned_oracle(
    form: LossForm, solver: AutoOracle, *, thorough: bool, progress: Report = None
) -> PlannedOracle:
    """Return the oracle of a class, planned on a part of it if it is large."""
    latent = form.latent
    likely = np.flatnonzero(latent.prior > 0.0)
    if thorough or likely.size <= MOST_PLANNED:
        result = domain_randomization_oracle(
            latent, horizon=form.horizon, solver=solver, progress=progress
        )
        gaps, outcome = result.gaps, result.outcome
        return PlannedOracle(result.average_gap, gaps, outcome, int(likely.size))
    chosen, weights = thinned(latent.prior, likely, MOST_PLANNED)
    part = LatentMDP(part_of_class(latent.simulators, chosen), weights)
    result = domain_randomization_oracle(
        part, horizon=form.horizon, solver=solver, progress=progress
    )
    own = float((latent.prior[chosen] / weights).min())
    low = own * max(0.0, result.average_gap.lower or 0.0)
    low *= 1.0 - 1e-12  # of the product's rounding
    try:
        found = graph_gaps(form, result.policy)
    except InvalidArgument:  # a model does what none of the chosen ones can do
        return PlannedOracle(Certified(low, np.inf), None, result.outcome, chosen.size)
    high = float(latent.prior[likely] @ found[likely]) + form.rounding
    high *= 1.0 + 1e-12
    return PlannedOracle(
        Certified(min(low, high), high), found, result.outcome, chosen.size
    )


def thinned(
    prior: FloatArray, likely: OffsetArray, count: int
) -> tuple[OffsetArray, FloatArray]:
    """Return evenly spread members and the weights of their neighbourhoods."""
    places = np.unique(np.linspace(0, likely.size - 1, count).round().astype(np.int64))
    middles = (places[1:] + places[:-1]) / 2.0
    nearest = np.searchsorted(middles, np.arange(likely.size))
    weights = np.bincount(nearest, prior[likely], minlength=places.size)
    return likely[places], weights / weights.sum()
