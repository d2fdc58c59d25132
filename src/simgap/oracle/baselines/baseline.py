"""An agent that the oracle is compared with: what it gets and loses in every model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from simgap._kernels.time_limit import limit_reached
from simgap.arrays import FloatArray, owned
from simgap.intervals import NOTHING_KNOWN, Certified, Estimate
from simgap.oracle.baselines.memoryless import ShortMemoryPlan
from simgap.policies import Policy
from simgap.records.provenance import Certainty


@final
@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """An agent to compare the oracle with."""

    name: str
    about: str  # one line for a table
    policy: Policy[Any] | tuple[Policy[Any], ...] | None  # several: see `note`
    value: Certified | Estimate  # averaged over the prior
    average_gap: Certified | Estimate
    values: FloatArray | tuple[Estimate, ...]  # (M,)
    gaps: FloatArray | tuple[Estimate, ...]  # (M,)
    certainty: Certainty  # of `value`
    bound: float | None = None  # no policy of this kind has a larger `value`
    least_gap: float | None = None  # nor a smaller average gap
    most_gap: float | None = None  # the best of the kind has at most this one; None:
    # that of `policy`, which is of the kind for certain
    searched: int | None = None  # policies of this kind that it is the best of
    note: str = ""
    weights: FloatArray | None = None  # of the policies of a mixture
    cross_gaps: FloatArray | None = None  # (M, M), of the plan of model j in model m
    prior: FloatArray | None = None  # (M,); None: all models can be real
    plan: ShortMemoryPlan | None = None  # what it was made from, if it is a table
    limit: str = ""  # the one that came before it, or before the end of its search

    @property
    def worst_gap(self) -> float:
        """Return the largest gap in a model that can be real, estimated if `gaps` are.

        A model of prior zero cannot.
        """
        told = (
            [each.estimate for each in self.gaps]
            if isinstance(self.gaps, tuple)
            else self.gaps.tolist()
        )
        chances = [1.0] * len(told) if self.prior is None else self.prior.tolist()
        return max(
            (gap for gap, chance in zip(told, chances, strict=True) if chance),
            default=0.0,
        )


def absent(name: str, about: str, note: str) -> Baseline:
    """Return a baseline of which nothing is known; the note says why."""
    nothing = owned(np.zeros(0))
    return Baseline(
        name=name,
        about=about,
        policy=None,
        value=NOTHING_KNOWN,
        average_gap=NOTHING_KNOWN,
        values=nothing,
        gaps=nothing,
        certainty="certified",
        note=note,
    )


def left_out(name: str, about: str) -> Baseline:
    """Return a baseline that a limit has just come before."""
    limit = limit_reached()
    nothing = absent(name, about, f"not computed: {limit} came first")
    return replace(nothing, limit=limit)
