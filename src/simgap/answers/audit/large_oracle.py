"""The oracle of a class of any size: large classes are planned on a part of them.

Planning compares models in pairs, so that hundreds of them take minutes. Of a large
class some models, evenly spread, are planned for and stand for their neighbours; the
bracket and the gaps are those of the whole class (`oracle.large_class`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from simgap.answers.planned_class import Tell, following
from simgap.arrays import FloatArray
from simgap.instances import simulator_of
from simgap.intervals import Certified, Interval
from simgap.oracle import (
    AutoOracle,
    LossForm,
    OracleResult,
    Outcome,
    ShortMemoryPlan,
    VectorSets,
    belief_policy,
    estimated_gap,
    part_to_plan,
    planned_in_part,
    planned_policy,
)
from simgap.policies import GraphPolicy, MarkovPolicy, Policy
from simgap.records.audit import InSimulator
from simgap.simulation import episodes_to_run, in_simulator

MOST_PLANNED = 40  # models with weight that are planned for at once
GRAPH = "policy graph, with memory"
BELIEF = "tracks the posterior"
WITHOUT = "without memory"


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


def graded(
    form: LossForm, plan: ShortMemoryPlan, found: PlannedOracle, seed: int
) -> tuple[InSimulator, ...]:
    """Return what the planned policies earn in the table and in the simulator.

    Nothing if the class is on no grid, its simulator is not at hand, or episodes are
    too long to run enough of them.
    """
    latent = form.latent
    table = simulator_of(latent.simulators)
    likely = int((latent.prior > 0.0).sum())
    episodes = episodes_to_run(form.steps, likely)
    if table is None or episodes is None or found.gaps is None:
        return ()
    belief = belief_policy(form, found.vectors)
    lost = estimated_gap(form, belief, episodes=episodes * likely, seed=seed)
    policies: tuple[tuple[str, Policy[Any], Interval], ...] = (
        (GRAPH, replace(found.policy, fallback=belief), _value(form, found.gaps)),
        (BELIEF, belief, lost.changed(-1.0, form.informed)),
        (
            WITHOUT,
            MarkovPolicy(WITHOUT, form.pattern.n_actions, plan.actions),
            _value(form, plan.gaps),
        ),
    )
    return tuple(
        replace(
            in_simulator(
                table,
                latent.prior,
                policy,
                form.steps,
                known,
                episodes=episodes,
                seed=seed,
            ),
            policy=name,
        )
        for name, policy, known in policies
    )


def _value(form: LossForm, gaps: FloatArray) -> Certified:
    """Return what a policy with known gaps earns on average over the prior."""
    prior = form.latent.prior
    lost = float(prior @ np.where(prior > 0.0, gaps, 0.0))
    return Certified.around(form.informed - lost, form.rounding)
