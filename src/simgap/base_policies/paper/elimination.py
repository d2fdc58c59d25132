"""Algorithms 1 and 2: drop models two by two, then play the one that is left.

    alive = U
    while |alive| > 1 (stage 1):
        i, j = two of alive; (s0, a0) = where they are farthest apart
        until the comparison of i and j ends:
            models of the travel set take turns to lead to s0 for some steps each
            in s0: play a0 and count what follows
        drop the less likely one
    play the H-step optimal policy of the survivor from the current step (stage 2)

Every step of the episode is one of these, so the horizon may end anywhere (errata E14).
Samples are i.i.d. whatever the travel did: each visit to (s0, a0) draws afresh.

Guarantee (theory 4.3-4.5): the real model is dropped with chance at most 1/H, stage 1
has an expected length of at most n0 (M - 1) (2 D (M + 2) + 1) while it is not, n0 the
samples of a round, and gap <= min(H, that + D + 1).

`literal` is the printed rule: the loop runs while one candidate is left, so that it
never ends (E10), samples are a set (E11), one more is taken (E12), the agent moves
before it looks where it is (E13), and all models travel (E16). Pairs are drawn at
random: every ordered pair gets a number before the episode, and the greatest among the
candidates is next. A round drops one of its pair, so the numbers of the pairs that are
left are as good as new.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import ClassVar, final

import numpy as np

from simgap._kernels.agents.algorithm_1 import ANYTIME, FIXED, SPRT, run_elimination
from simgap._kernels.walking.streams import uniform
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.base_policies.improved.evidence import Evidence, evidence_of
from simgap.base_policies.insider import Insider
from simgap.base_policies.knowledge import Known, class_knowledge
from simgap.base_policies.paper.comparison import (
    PAPER_CONSTANT,
    Comparison,
    Pairing,
    Rounds,
    comparison_rounds,
    log_likelihood,
    log_ratio,
)
from simgap.base_policies.paper.elimination_tables import ending_tables, search_tables
from simgap.base_policies.paper.travel_plan import (
    TravelBudget,
    TravelPlan,
    TravelSet,
    travel_plan,
)
from simgap.base_policies.timed_rules import TimedRules, timed_rules
from simgap.errors import InvalidArgument
from simgap.planning import checked_horizon
from simgap.policies import Step, check_state, check_step, surely
from simgap.simulation import RealModels, RewardSignal

KINDS = {Comparison.TRUNCATED_SPRT: SPRT, Comparison.ANYTIME: ANYTIME}


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """What Algorithm 1 remembers; without a pair it is in stage 2."""

    alive: frozenset[int]
    pair: tuple[int, int] | None = None
    counts: tuple[int, ...] = ()  # samples by edge of (s0, a0), or by edge of all data
    leader: int = -1  # the model whose way is followed; -1 in s0
    left: int = 0  # steps for which it still leads
    first_state: int = 0  # evidence, if all data count


@final
@dataclass(frozen=True, slots=True, eq=False)
class Elimination(Insider):
    """Algorithm 1 as a policy."""

    name: ClassVar[str] = "elimination"
    rounds: Rounds
    pairing: Pairing
    travel: TravelSet
    ways: TravelPlan
    evidence: Evidence
    ending: TimedRules
    literal: bool
    stream: int = 0  # the key of random pairs

    def with_stream(self, key: int) -> Elimination:
        """Return the policy for one draw of its pairs, or itself if none is drawn."""
        return replace(self, stream=key) if self.pairing is Pairing.RANDOM else self

    def start(self, state: int) -> Stage:
        """Return the memory of an episode that begins in `state`."""
        check_state(state, self.known.simulators.n_states)
        alive = self.everyone()
        if not self.all_data:
            return self._next_round(alive, state, (), 0)
        nothing = self.evidence.nothing()
        return self._next_round(
            self._not_beaten(alive, state, nothing), state, nothing, state
        )

    def act(self, memory: Stage, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,)."""
        check_step(h, self.horizon)
        check_state(state, self.known.simulators.n_states)
        return surely(self._action(memory, h, state), self.known.simulators.n_actions)

    def observe(self, memory: Stage, step: Step) -> Stage:
        """Return the memory after a step: count it, compare, travel on."""
        edge, after = self.observed.edge(step), step.next_state
        if memory.pair is None:
            return memory
        alive, counts = memory.alive, memory.counts
        if self.all_data:
            counts = self.evidence.counted(counts, edge)
            alive = self._not_beaten(alive, memory.first_state, counts)
            if not alive.issuperset(memory.pair):
                return self._next_round(alive, after, counts, memory.first_state)
        elif memory.leader < 0:
            first = int(self.observed.indptr[self._row(memory.pair)])
            counts = tuple(n + (first + k == edge) for k, n in enumerate(counts))
            loser = self._loser(memory.pair, counts)
            if loser is not None:
                # errata E10: compared with itself, the last one stays
                left = alive - {loser} if len(alive) > 1 else alive
                return self._next_round(left, after, (), 0)
        return self._travelled(memory, alive, counts, after)

    def survivors(self, memory: Stage) -> frozenset[int]:
        """Return the models that are not eliminated."""
        return memory.alive

    def playing(self, memory: Stage) -> Hashable:
        """Return the candidates: whom one compares and follows changes with them."""
        return memory.alive

    @property
    def all_data(self) -> bool:
        """Whether every step counts, for every candidate."""
        return self.rounds.kind is Comparison.ANYTIME

    @property
    def looks_first(self) -> bool:
        """Whether an agent that is in s0 stays; print moves first (errata E13)."""
        return not self.literal or self.known.simulators.n_states == 1

    def _action(self, memory: Stage, h: int, state: int) -> int:
        if memory.pair is None:
            (survivor,) = memory.alive
            return int(self.ending.rule(survivor, self.horizon - h)[state])
        target, action = divmod(self._row(memory.pair), self.known.simulators.n_actions)
        if memory.leader < 0:
            return action
        return int(self.ways.policy[self.ways.place[target], memory.leader, state])

    def _row(self, pair: tuple[int, int]) -> int:
        return int(self.rounds.row[pair])

    def _target(self, pair: tuple[int, int]) -> int:
        return self._row(pair) // self.known.simulators.n_actions

    def _loser(self, pair: tuple[int, int], counts: tuple[int, ...]) -> int | None:
        """Return who is dropped after these samples, None while the round goes on."""
        edges = self._edges(pair)
        taken = sum(counts)
        if self.literal:  # errata E11: a set keeps one sample of each kind
            counts = tuple(min(n, 1) for n in counts)
        ratio = log_ratio(self.evidence, *pair, edges, counts)
        enough = int(self.rounds.samples[pair])
        early = self.rounds.kind is Comparison.TRUNCATED_SPRT
        if taken < enough and not (early and abs(ratio) >= self.rounds.threshold):
            return None
        return pair[1] if ratio >= 0.0 else pair[0]

    def _edges(self, pair: tuple[int, int]) -> range:
        row = self._row(pair)
        return range(int(self.observed.indptr[row]), int(self.observed.indptr[row + 1]))

    def _not_beaten(
        self, alive: frozenset[int], first: int, counts: tuple[int, ...]
    ) -> frozenset[int]:
        """Return the candidates whose likelihood no other one beats by the odds."""
        scores = {m: log_likelihood(self.evidence, m, first, counts) for m in alive}
        fewest = min(against for against, _ in scores.values())
        best = max(total for against, total in scores.values() if against == fewest)
        return frozenset(
            m
            for m, (against, total) in scores.items()
            if against == fewest and best - total < self.rounds.threshold
        )

    def _next_round(
        self, alive: frozenset[int], state: int, counts: tuple[int, ...], first: int
    ) -> Stage:
        """Return the memory with the next two candidates to compare, or stage 2."""
        if len(alive) == 1 and not self.literal:
            return Stage(alive)
        pair = self._pair(sorted(alive))
        if not self.all_data:
            counts = (0,) * len(self._edges(pair))
        target = self._target(pair)
        leader, left = -1, 0
        if state != target or not self.looks_first:
            leader, left = self._leading(alive, -1, state, target)
        return Stage(alive, pair, counts, leader, left, first)

    def _pair(self, alive: list[int]) -> tuple[int, int]:
        """Return whom to compare; the last one with itself (errata E10)."""
        if len(alive) == 1 or self.pairing is Pairing.LOWEST:
            return alive[0], alive[1 % len(alive)]
        if self.pairing is Pairing.RANDOM:
            key, many = np.uint64(self.stream), len(self.known.simulators)
            pairs = permutations(alive, 2)
            return max(pairs, key=lambda pair: uniform(key, pair[0] * many + pair[1]))
        apart = self.rounds.separation.hellinger
        return max(combinations(alive, 2), key=lambda pair: float(apart[pair]))

    def _travelled(
        self, memory: Stage, alive: frozenset[int], counts: tuple[int, ...], state: int
    ) -> Stage:
        """Return the memory with the model that leads from this state on."""
        assert memory.pair is not None  # only stage 1 travels
        target, sampled = self._target(memory.pair), memory.leader < 0
        dropped = self.travel is TravelSet.REMAINING and memory.leader not in alive
        leader, left = memory.leader, memory.left - 1
        if state == target and (self.looks_first or not sampled):
            leader, left = -1, 0
        elif sampled or dropped or left == 0:
            leader, left = self._leading(alive, memory.leader, state, target)
        return Stage(alive, memory.pair, counts, leader, left, memory.first_state)

    def _leading(
        self, alive: frozenset[int], last: int, state: int, target: int
    ) -> tuple[int, int]:
        """Return who leads after the last one, and for how many steps."""
        everyone = range(len(self.known.simulators))
        travels = everyone if self.travel is TravelSet.ALL else sorted(alive)
        leader = next((m for m in travels if m > last), travels[0])
        return leader, self.ways.lead(leader, state, target)

    def run(
        self,
        real: RealModels,
        world: World,
        member: int,
        keys: AnyArray,
        grid: OffsetArray,
        record: Record,
        *,
        lazy: bool = True,
        tail: bool = True,
    ) -> None:
        """Run one episode per key in compiled form, with the same memory's bits.

        Where nobody asks for a trace, stage 2 with the real model is not drawn: it
        loses nothing, and what it earns is added in expectation (`tail`).
        """
        run_elimination(
            world,
            member,
            keys,
            search_tables(self.rounds, self.pairing, self.ways, self.evidence),
            ending_tables(self.ending, member if tail else -1),
            KINDS.get(self.rounds.kind, FIXED),
            self.rounds.threshold,
            self.travel is TravelSet.ALL,
            self.pairing is Pairing.RANDOM,
            self.literal,
            lazy,
            grid,
            record,
        )


def elimination(
    simulators: Known,
    horizon: int,
    *,
    comparison: Comparison | None = None,
    pairing: Pairing | None = None,
    travel: TravelSet | None = None,
    budget: TravelBudget = TravelBudget.DIAMETER,
    failure: float | None = None,
    paper_constant: float = PAPER_CONSTANT,
    literal: bool = False,
    signal: RewardSignal = RewardSignal.UNSEEN,
) -> Elimination:
    """Return Algorithm 1 for a class and a horizon.

    By default the LOWEST models are compared by CHERNOFF and the REMAINING ones travel.
    `failure` bounds the chance of dropping the real model, 1/H unless given. `literal`
    runs the printed rule, with RANDOM pairs; it never leaves stage 1.
    """
    horizon = checked_horizon(horizon)
    if literal and (comparison or travel or budget is not TravelBudget.DIAMETER):
        raise InvalidArgument(
            "the printed algorithm has one comparison, travel set and budget",
            hint="leave comparison, travel and budget alone with literal=True",
        )
    known = class_knowledge(simulators, signal)
    usual = (Comparison.PAPER, TravelSet.ALL, Pairing.RANDOM)
    if not literal:
        usual = (Comparison.CHERNOFF, TravelSet.REMAINING, Pairing.LOWEST)
    rounds = comparison_rounds(
        known.observed,
        comparison or usual[0],
        failure=1.0 / max(horizon, 1) if failure is None else failure,
        paper_constant=paper_constant,
        literal=literal,
    )
    return Elimination(
        known=known,
        horizon=horizon,
        rounds=rounds,
        pairing=pairing or usual[2],
        travel=travel or usual[1],
        ways=travel_plan(known.simulators, rounds.row, budget),
        evidence=evidence_of(known.observed),
        ending=timed_rules(known, horizon),
        literal=literal,
    )
