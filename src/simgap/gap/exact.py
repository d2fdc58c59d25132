"""Gaps without sampling: tables backwards, graphs backwards, histories forwards.

A policy that remembers nothing is evaluated by backward induction, a policy graph by
one backward pass over its rules, Algorithm 3 on rewards of a lattice by the law of its
first passages. Any other policy is followed history by history: those with the same
state and the same memory are one, and that is exact because memory is all an agent has.
When there are too many, the answer is an error that says how many were allowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.paper import OptimisticExploration, Threshold
from simgap.errors import InvalidArgument, NotSolved
from simgap.gap.evaluator import Exact
from simgap.gap.first_passage import EliminationTests, first_passage_gap
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import Seen, gaps_by_histories, graph_gaps, loss_form
from simgap.planning import checked_horizon, optimal_values, policy_values
from simgap.policies import GraphPolicy, MarkovPolicy, Policy
from simgap.simulation import ObservedClass, RandomizedPolicy, RewardSignal

SHORT = 60  # steps up to which histories are tried before first passages


def exact_gaps(
    real: SimulatorClass, policy: Policy[Any], horizon: int, evaluator: Exact
) -> tuple[Certified, ...]:
    """Return gap(pi, m) of every model as a bracket of rounding width (Equation 1)."""
    horizon = checked_horizon(horizon)
    if isinstance(policy, RandomizedPolicy) and policy.with_stream(0) is not policy:
        raise InvalidArgument(
            f"the policy {policy.name!r} draws random numbers, and histories cannot "
            "be merged over them",
            hint="use evaluator=MonteCarlo(...)",
        )
    if isinstance(policy, MarkovPolicy):
        return _by_tables(real, policy, horizon)
    if isinstance(policy, OptimisticExploration) and horizon > SHORT:
        return _by_first_passages(real, policy, horizon)
    form = loss_form(LatentMDP.uniform(real), horizon=horizon)
    if isinstance(policy, GraphPolicy):
        found: FloatArray | None = graph_gaps(form, policy)
    else:
        found = gaps_by_histories(
            form, policy, limit=evaluator.max_nodes, seen=_seen(real, policy)
        )
    if found is None:
        raise NotSolved(
            f"the policy {policy.name!r} remembers more than {evaluator.max_nodes} "
            f"different things in {horizon} steps",
            hint="raise Exact(max_nodes=...), shorten the horizon, or sample with "
            "MonteCarlo(...)",
        )
    return tuple(form.around(float(gap)) for gap in found)


def _by_tables(
    real: SimulatorClass, policy: MarkovPolicy, horizon: int
) -> tuple[Certified, ...]:
    table = policy.table
    if policy.horizon is not None:
        table = table[:horizon]
    best, own = optimal_values(real, horizon), policy_values(real, table, horizon)
    found = [
        Certified(*most) - Certified(*mine)
        for most, mine in zip(
            best.start_ends.tolist(), own.start_ends.tolist(), strict=True
        )
    ]
    if any(each.ends[1] < 0.0 for each in found):
        raise AssertionError("a gap is negative: a defect of the solver")
    return tuple(each.not_negative() for each in found)


def _by_first_passages(
    real: SimulatorClass, agent: OptimisticExploration, horizon: int
) -> tuple[Certified, ...]:
    if agent.horizon != horizon:
        raise InvalidArgument(
            f"the agent was made for {agent.horizon} steps, the episode has {horizon}",
            hint="its tests depend on the horizon: make it for this one",
        )
    return tuple(
        first_passage_gap(
            model, agent.known.average, elimination_tests(agent), horizon
        ).gap
        for model in real
    )


def elimination_tests(agent: OptimisticExploration) -> EliminationTests:
    """Return the thresholds of Algorithm 3 as a table (theory 3.2)."""
    if agent.threshold is Threshold.VARIANCE:
        raise NotSolved(
            "thresholds that depend on the predicted variance have no first-passage "
            "table",
            hint="sample with MonteCarlo(...), or use Threshold.SHARP",
        )
    if agent.observed.signal is not RewardSignal.UNSEEN:
        raise NotSolved(
            "first passages are computed for agents that do not see rewards",
            hint="sample with MonteCarlo(...)",
        )
    steps = np.arange(1, agent.horizon + 1) - (1 if agent.literal else 0)
    table = agent.levels.width[:, None] * np.sqrt(steps * agent.log_term)[None]
    return EliminationTests(
        thresholds=table,
        tolerance=agent.levels.tolerance,
        two_sided=not agent.one_sided,
    )


def _seen(real: SimulatorClass, policy: Policy[Any]) -> Seen | None:
    observed: ObservedClass | None = getattr(policy, "observed", None)
    if observed is None or observed.signal is RewardSignal.UNSEEN:
        return None
    if observed.simulators is not real and observed.simulators.hash != real.hash:
        raise InvalidArgument(
            "an agent that sees rewards can only be evaluated in its own class",
            hint="evaluate it in that class, or make it for unseen rewards",
        )
    return Seen(
        indptr=observed.indptr,
        next_state=observed.next_state,
        reward=observed.seen_reward,
        likelihood=observed.chances.T,
    )
