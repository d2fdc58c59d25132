"""The policies of an audit graded in the simulator itself, where it is at hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from simgap.answers.audit.large_oracle import PlannedOracle
from simgap.arrays import FloatArray
from simgap.instances import simulator_of
from simgap.intervals import Certified, Interval
from simgap.oracle import LossForm, ShortMemoryPlan, belief_policy, estimated_gap
from simgap.policies import MarkovPolicy, Policy
from simgap.records import InSimulator
from simgap.simulation import episodes_to_run, in_simulator

GRAPH = "policy graph, with memory"
BELIEF = "tracks the posterior"
WITHOUT = "without memory"


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
