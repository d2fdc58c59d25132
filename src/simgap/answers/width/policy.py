"""The oracle of a range of models, and what it does after a step its range forbids.

The range is planned as a class of its own: nothing of the models outside enters, not
even their plans. (The oracle of the whole class with prior zero outside would go on,
after a step that is impossible in the range, with the plan of a model it never trained
on.) In reality more can happen than in the range. After a step, or in a first state,
that no model of the range allows, the policy goes on without memory: it plays what is
best on average over the range, sum_m nu_m loss_m(h, s, a) at its least (of actions that
are equal up to rounding the lowest). So its gap is defined and exact in every model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, class_from_models
from simgap.oracle import (
    Outcome,
    Solver,
    average_plan,
    completed_graph,
    loss_form,
    planned_policy,
)
from simgap.policies import GraphPolicy, Pattern


@final
@dataclass(frozen=True, slots=True, eq=False)
class RangePolicy:
    """What was planned for a range, as a policy for every model of the class."""

    policy: GraphPolicy  # over the successors of the whole class
    average_gap: Certified  # of the oracle in the range
    outcome: Outcome
    surprising: bool  # whether a model outside can do what no model inside can


def range_policy(
    latent: LatentMDP, kept: BoolArray, *, horizon: int, solver: Solver
) -> RangePolicy:
    """Return the oracle of the models `kept` (M,) as a policy for the whole class."""
    inner = loss_form(_restricted(latent, kept), horizon=horizon)
    found = planned_policy(inner, solver)
    foreseen, starts = _foreseen(latent, kept)
    plan = average_plan(inner)
    return RangePolicy(
        policy=completed_graph(found.policy, _pattern(latent), foreseen, plan),
        average_gap=Certified(found.lower, found.upper),
        outcome=found.outcome,
        surprising=_surprising(latent, kept, foreseen, starts),
    )


def _restricted(latent: LatentMDP, kept: BoolArray) -> LatentMDP:
    """Return the class of the range with its part of the prior."""
    simulators, weight = latent.simulators, latent.prior[kept]
    if kept.all():
        return latent
    inside = [simulators[int(at)] for at in np.flatnonzero(kept)]
    return LatentMDP(class_from_models(inside), weight / weight.sum())


def _foreseen(latent: LatentMDP, kept: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return which successors (nnz,) and first states (S,) the range allows."""
    simulators = latent.simulators
    steps = (simulators.transitions.values[kept] > 0.0).any(axis=0)
    laws = [simulators.start_law(int(at)) > 0.0 for at in np.flatnonzero(kept)]
    return np.asarray(steps), np.logical_or.reduce(laws)


def _surprising(
    latent: LatentMDP, kept: BoolArray, foreseen: BoolArray, starts: BoolArray
) -> bool:
    """Return whether a model that may be real allows more than the range does."""
    outside = np.flatnonzero((latent.prior > 0.0) & ~kept)
    simulators = latent.simulators
    return any(
        bool((simulators.transitions.values[at] > 0.0)[~foreseen].any())
        or bool((simulators.start_law(int(at)) > 0.0)[~starts].any())
        for at in outside
    )


def _pattern(latent: LatentMDP) -> Pattern:
    kernel = latent.simulators.transitions
    return Pattern(kernel.n_states, kernel.n_actions, kernel.indptr, kernel.indices)
