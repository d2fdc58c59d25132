"""Policies that learn nothing, as base policies: compiled, with the same results.

A Markov policy is a list of rules, each for some steps in a row; a stationary one has
one rule. A policy graph remembers a node. Both are run compiled, with the random stream
that any other agent would have in the same episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap._kernels.agents.fixed_policies import Graph, Table, run_graph, run_table
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.base_policies.knowledge import ClassKnowledge, Known
from simgap.errors import InvalidArgument
from simgap.policies import GraphPolicy, MarkovPolicy, Step
from simgap.simulation import (
    ObservedClass,
    RealModels,
    RewardSignal,
    observed_class,
    run_stepwise,
)

FOREVER = 2**62


@final
@dataclass(frozen=True, slots=True, eq=False)
class FixedPolicy:
    """A table or a graph as a program; as a policy it is what it wraps."""

    policy: MarkovPolicy | GraphPolicy
    observed: ObservedClass

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def horizon(self) -> int | None:
        return self.policy.horizon

    def start(self, state: int) -> Any:
        """Return what the policy remembers of an episode that begins in `state`."""
        return self.policy.start(state)

    def act(self, memory: Any, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,)."""
        return self.policy.act(memory, h, state)

    def observe(self, memory: Any, step: Step) -> Any:
        """Return what the policy remembers after a step."""
        return self.policy.observe(memory, step)

    def run(
        self,
        real: RealModels,
        world: World,
        member: int,
        keys: AnyArray,
        grid: OffsetArray,
        record: Record,
    ) -> None:
        """Run one episode per key in compiled form.

        Raises what the policy raises: if steps run out, and `OutsideClass` where a
        graph has nowhere to go.
        """
        if isinstance(self.policy, MarkovPolicy):
            if self.policy.horizon is None or self.policy.horizon >= world.horizon:
                run_table(world, keys, _as_table(self.policy), grid, record)
                return
            lost = 0
        else:
            graph = _as_graph(self.policy, self.observed)
            lost = run_graph(world, keys, graph, grid, record)
        if lost >= 0:  # step by step it says what is wrong
            rest = Record._make(field[lost:] for field in record)
            run_stepwise(self.policy, real, world, member, keys[lost:], grid, rest)


def fixed_policy(
    policy: MarkovPolicy | GraphPolicy,
    simulators: Known | ObservedClass,
    *,
    signal: RewardSignal = RewardSignal.UNSEEN,
) -> FixedPolicy:
    """Return a policy that learns nothing in the form that runs fast."""
    observed = _observed(simulators, signal)
    known = observed.simulators
    if isinstance(policy, MarkovPolicy):
        shape = policy.n_states, policy.n_actions
    else:
        shape = policy.pattern.n_states, policy.pattern.n_actions
    if shape != (known.n_states, known.n_actions):
        raise InvalidArgument(
            f"policy {policy.name!r} is for {shape[0]} states and {shape[1]} actions, "
            f"the class has {known.n_states} and {known.n_actions}",
            hint="give a policy over the states and actions of the class",
        )
    return FixedPolicy(policy, observed)


def uniformly_random(simulators: Known) -> MarkovPolicy:
    """Return the policy that plays every action equally often, whatever it sees."""
    known = _observed(simulators, RewardSignal.UNSEEN).simulators
    shape = known.n_states, known.n_actions
    return MarkovPolicy("random", shape[1], np.full(shape, 1.0 / shape[1]))


def _observed(simulators: Known | ObservedClass, signal: RewardSignal) -> ObservedClass:
    if isinstance(simulators, ObservedClass):
        return simulators
    if isinstance(simulators, ClassKnowledge):
        return simulators.observed
    return observed_class(simulators, signal)


def _as_table(policy: MarkovPolicy) -> Table:
    """Return the rules of a Markov policy, equal ones in a row as one."""
    table = policy.table if policy.horizon is not None else policy.table[None]
    since: OffsetArray = np.array([0, FOREVER])
    if policy.horizon is not None:
        rows = table.reshape(len(table), -1)
        changes = np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1
        since = np.concatenate([[0], changes, [len(rows)]]).astype(np.int64)
        table = table[since[:-1]] if len(rows) else table
    n_states, n_actions = policy.n_states, policy.n_actions
    none = np.zeros((0, n_states, n_actions))
    if policy.certain:
        return Table(since, np.array(table, np.int32), none)
    return Table(since, np.zeros((0, n_states), np.int32), np.array(table))


def _as_graph(policy: GraphPolicy, observed: ObservedClass) -> Graph:
    pattern = policy.pattern
    width = pattern.n_states
    rows = np.repeat(np.arange(pattern.indptr.size - 1), np.diff(pattern.indptr))
    known = rows.astype(np.int64) * width + pattern.indices
    wanted = observed.row.astype(np.int64) * width + observed.next_state
    at = np.minimum(np.searchsorted(known, wanted), max(known.size - 1, 0))
    found = known[at] == wanted
    column = np.where(found, at - pattern.indptr[observed.row], -1)
    return Graph(
        start_node=np.array(policy.start_node),
        rule_offsets=np.array(policy.rule_offsets),
        rule_since=np.array(policy.rule_since),
        rule_until=np.array(policy.rule_until),
        rule_action=np.array(policy.rule_action),
        next_offsets=np.array(policy.next_offsets),
        next_node=np.array(policy.next_node),
        column=column.astype(np.int64),
        horizon=-1 if policy.horizon is None else policy.horizon,
    )
