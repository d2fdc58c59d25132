"""Explore-then-commit: act at random for N steps, then trust the likeliest model.

    for h = 1..N: every action is as likely as any other
    m = argmax of the likelihood of everything seen (the first state included)
    for h = N+1..H: a = pi_m(s), greedy for the bias of m

Of equally likely models the one with the greatest gain is taken; if none allows what
was seen, the real model is outside the class, the one with the greatest gain is played
and `Runs.resets` is 1.

By default N = ceil(H^(2/3)). This order balances the cost of exploring and the cost of
a wrong decision if nothing is known of how far models are apart. N steps lose at most
N. The model chosen after them is wrong with a probability that falls like the product
of BC over the pairs (s, a) that were visited, so that no rate holds in every class.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import ceil, inf
from typing import ClassVar, final

import numpy as np

from simgap._kernels.agents.explore_then_commit import run_commitment
from simgap._kernels.agents.fixed_policies import Table
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.base_policies.improved.evidence import Evidence, evidence_of
from simgap.base_policies.insider import Insider
from simgap.base_policies.knowledge import Known, class_knowledge
from simgap.errors import InvalidArgument
from simgap.planning import checked_horizon
from simgap.policies import Step, check_state, check_step
from simgap.simulation import RealModels, RewardSignal

UNDECIDED = -1


@final
@dataclass(frozen=True, slots=True)
class Notes:
    """What explore-then-commit remembers; nothing is noted after the commitment."""

    model: int  # committed to, or UNDECIDED
    steps: int  # of exploration
    first_state: int
    counts: tuple[int, ...]  # of the edges that tell models apart
    resets: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class ExploreThenCommit(Insider):
    """Explore-then-commit as a policy."""

    name: ClassVar[str] = "explore-then-commit"
    explored: int  # N
    evidence: Evidence

    @property
    def chances(self) -> FloatArray:
        """Probabilities of the actions while exploring, (A,)."""
        n_actions = self.known.simulators.n_actions
        return np.full(n_actions, 1.0 / n_actions)

    def start(self, state: int) -> Notes:
        """Return the memory of an episode that begins in `state`."""
        check_state(state, self.known.simulators.n_states)
        return self._decided(Notes(UNDECIDED, 0, state, self.evidence.nothing()))

    def act(self, memory: Notes, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,)."""
        if memory.model != UNDECIDED:
            return self.known.action_law(memory.model, h, state, horizon=self.horizon)
        check_step(h, self.horizon)
        check_state(state, self.known.simulators.n_states)
        return self.chances

    def observe(self, memory: Notes, step: Step) -> Notes:
        """Return the memory after a step."""
        edge = self.observed.edge(step)
        if memory.model != UNDECIDED:
            return memory
        counts = self.evidence.counted(memory.counts, edge)
        noted = Notes(UNDECIDED, memory.steps + 1, memory.first_state, counts)
        return self._decided(noted)

    def survivors(self, memory: Notes) -> frozenset[int]:
        """Return all models, and after the commitment one."""
        if memory.model == UNDECIDED:
            return self.everyone()
        return frozenset({memory.model})

    def playing(self, memory: Notes) -> Hashable:
        """Return the model that is played, or UNDECIDED."""
        return memory.model

    def _decided(self, memory: Notes) -> Notes:
        """Return the memory with a commitment if it is time."""
        if memory.steps < self.explored:
            return memory
        at_start = self.evidence.at_start[memory.first_state]
        logs = self.evidence.log_likelihoods(at_start, memory.counts)
        best = max(self.known.order, key=lambda m: float(logs[m]))  # the first of ties
        outside = int(logs[best] == -inf)
        return Notes(int(best), memory.steps, 0, self.evidence.nothing(), outside)

    def run(
        self,
        real: RealModels,
        world: World,
        member: int,
        keys: AnyArray,
        grid: OffsetArray,
        record: Record,
        *,
        leave: bool = True,
    ) -> None:
        """Run one episode per key in compiled form, with the same random stream.

        If no grid is asked for, what follows the commitment is replaced by its
        expectation; `leave=False` simulates it.
        """
        known = self.known
        n_states = known.simulators.n_states
        run_commitment(
            world,
            keys,
            known.plans(),
            self.evidence.weights(),
            self.explored,
            Table(
                np.array([0, self.horizon]),
                np.zeros((0, n_states), np.int32),
                np.tile(self.chances, (1, n_states, 1)),
            ),
            known.tails(real, member, wanted=leave and grid.size == 0),
            grid,
            record,
        )


def explore_then_commit(
    simulators: Known,
    horizon: int,
    *,
    explored: int | None = None,
    signal: RewardSignal = RewardSignal.UNSEEN,
) -> ExploreThenCommit:
    """Return explore-then-commit with N = `explored` steps, ceil(H^(2/3)) if None."""
    horizon = checked_horizon(horizon)
    known = class_knowledge(simulators, signal)
    steps = min(horizon, _two_thirds(horizon)) if explored is None else explored
    whole = isinstance(steps, int | np.integer) and not isinstance(steps, bool)
    if not whole or not 0 <= steps <= horizon:
        raise InvalidArgument(
            f"explored is {explored!r} of {horizon} steps",
            hint=f"a whole number from 0 to {horizon}",
        )
    return ExploreThenCommit(known, horizon, int(steps), evidence_of(known.observed))


def _two_thirds(horizon: int) -> int:
    """Return ceil(H^(2/3)) without rounding: the least n with n^3 >= H^2."""
    n: int = max(0, ceil(float(horizon) ** (2.0 / 3.0)) - 1)
    while n**3 < horizon**2:
        n += 1
    return n
