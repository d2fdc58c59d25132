"""The oracle of a class of any size: large classes are planned on a part of them.

Planning compares models in pairs, so that hundreds of them take minutes. Of a large
class some models, evenly spread, are planned for and stand for their neighbours; the
bracket and the gaps are those of the whole class (`oracle.large_class`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.answers.planned_class import Tell, following
from simgap.arrays import FloatArray
from simgap.intervals import Certified
from simgap.oracle import (
    AutoOracle,
    LossForm,
    OracleResult,
    Outcome,
    VectorSets,
    part_to_plan,
    planned_in_part,
    planned_policy,
)
from simgap.policies import GraphPolicy

MOST_PLANNED = 40  # models with weight that are planned for at once


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlannedOracle:
    """A bracket of the oracle's average gap and a policy's gap in every model."""

    average_gap: Certified
    gaps: FloatArray | None  # (M,), NaN where the policy has no rule; None: unknown
    outcome: Outcome
    planned: int  # models that were planned for
    policy: GraphPolicy  # whose gaps these are
    vectors: VectorSets  # of the policy that tracks the posterior


def given_oracle(found: OracleResult) -> PlannedOracle:
    """Return an oracle that is planned already."""
    likely = int((found.prior > 0.0).sum())
    belief = found.belief_policy
    sets = VectorSets(belief.vector_set, belief.vector_offsets, belief.vectors)
    return PlannedOracle(
        found.average_gap, found.gaps, found.outcome, likely, found.policy, sets
    )


def planned_oracle(
    form: LossForm, solver: AutoOracle, *, thorough: bool, progress: Tell | None = None
) -> PlannedOracle:
    """Return the oracle of a class, planned on a part of it if it is large."""
    likely, follow = int((form.latent.prior > 0.0).sum()), following(progress)
    if thorough or likely <= MOST_PLANNED:
        found, count = planned_policy(form, solver, progress=follow), likely
    else:
        count = min(MOST_PLANNED, part_to_plan(form, solver.time_limit) or likely)
        found = planned_in_part(form, solver, count, progress=follow)
    bracket = Certified(found.lower, found.upper)
    return PlannedOracle(
        bracket, found.gaps, found.outcome, count, found.policy, found.vectors
    )
