"""Algorithm 4: the best gain among models that explain the data nearly as well as any.

    Z = Z_new = []; alive = U; k = argmax gain
    for h = 1..H:
        a = pi_k(s), greedy for the bias l_k (the prose: of the real model, E19)
        append (s, a, l_k, y) to Z_new; y = l_k(s'), plus the reward if it is seen
        if max over pairs of |f_i - f_j|^2 on Z_new / (|f_i - f_j|^2 on Z + alpha) >= 1:
            Z += Z_new; Z_new = []                    (errata E20: print has no reset)
            fit = argmin over U of sum (f_m - y)^2 over Z, ties to the lowest index
            alive = {m : |f_m - f_fit|^2 on Z <= beta}, from all of U
            k = argmax gain over alive

f_m(s, a, l) = P_m l (s, a), plus R_m(s, a) if rewards are seen (theory 7.2). Everything
is computed from counts of edges. Sums over Z grow when an episode of k ends; within
one, all data have the same l, so that counts of edges are all there is to remember.

Guarantee (theory 4.7), with Dl the greatest span of a bias (and of what is seen of
rewards), alpha >= Dl^2 + 1 and beta = 2 Dl^2 log(|F| H):

1. The real model ever leaves `alive` with probability at most 1/H.
2. While it has not, the sum over all data of (f_k - f_*)^2 is at most
   8 beta + alpha + Dl^2, at every step.
3. The sum of |f_k - f_*| over all steps is at most
   1 + Dl d + 2 sqrt((8 beta + alpha + Dl^2) d H), d the eluder dimension, which is at
   most |F| (|F| - 1) / 2 and at most the number of points (errata E7).
4. There are at most (|F| (|F| - 1) / 2) log2(1 + H Dl^2 / alpha) switches. Episodes are
   one more (errata E21).
5. Reg(H) <= item 3 + Dl / 2 + (switches + 1) Dl + 1.

The first state of an episode is no data: the algorithm learns from transitions alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import Enum
from math import log, log2, sqrt
from typing import ClassVar, final

import numpy as np

from simgap._kernels.agents.algorithm_4 import Fits, Rule, run_general
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.base_policies.insider import Follower
from simgap.base_policies.knowledge import ClassKnowledge, Known, class_knowledge
from simgap.base_policies.paper.predictions import Predictions, predictions
from simgap.errors import InvalidArgument
from simgap.planning import checked_horizon, diameter
from simgap.policies import Step, check_state
from simgap.simulation import RealModels, RewardSignal

MOST_TAIL_WORK = 10**8  # multiplications to prepare exact tails for one call


class Width(Enum):
    """Dl: what bounds the span of every bias."""

    SPAN = "the greatest span of a bias"
    DIAMETER = "the diameter of the class"


class Ridge(Enum):
    """alpha: how much fresh data must weigh before it counts."""

    SPAN = "Dl^2 + 1"
    PAPER = "4 Dl^2 + 1"


class Radius(Enum):
    """beta: how much worse than the best fit a model may be."""

    FINITE = "2 Dl^2 log(|F| H)"
    COVER = "2 Dl^2 log(N(F, 1/H) H) + 6 Dl"


@final
@dataclass(frozen=True, slots=True)
class Sums:
    """What Algorithm 4 needs of a list of data."""

    apart: tuple[float, ...]  # (M (M - 1) / 2,), sum of (f_i - f_j)^2 for i < j
    loss: tuple[float, ...]  # (M,), sum of (f_m - y)^2


@final
@dataclass(frozen=True, slots=True)
class Data:
    """What Algorithm 4 remembers."""

    current: int  # the model that is played
    alive: frozenset[int]
    settled: Sums  # over Z
    carried: Sums  # over what Z_new holds from earlier episodes: 0 unless literal
    fresh: tuple[int, ...]  # (E,), edges since the last switch: the rest of Z_new
    switches: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class GeneralOptimistic(Follower):
    """Algorithm 4 on a finite class; `literal` never empties Z_new (errata E20)."""

    name: ClassVar[str] = "general"
    functions: Predictions
    width: float  # Dl
    ridge: float  # alpha
    radius: float  # beta
    literal: bool

    def start(self, state: int) -> Data:
        """Return the memory of an agent without data."""
        check_state(state, self.known.simulators.n_states)
        members = len(self.known.simulators)
        nothing = Sums((0.0,) * (members * (members - 1) // 2), (0.0,) * members)
        return Data(
            current=int(self.known.order[0]),
            alive=frozenset(range(members)),
            settled=nothing,
            carried=nothing,
            fresh=(0,) * self.observed.n_edges,
        )

    def observe(self, memory: Data, step: Step) -> Data:
        """Return the memory after a step: append, look at the score, switch."""
        edge = self.observed.edge(step)
        if step.action != self.known.policy[memory.current, step.state]:
            raise InvalidArgument(
                f"step {step.h} took action {step.action} in state {step.state}, where "
                f"model {memory.current} plays "
                f"{self.known.policy[memory.current, step.state]}",
                hint="this agent learns from its own actions: do as `act` says",
            )
        fresh = tuple(n + (e == edge) for e, n in enumerate(memory.fresh))
        memory = replace(memory, fresh=fresh)
        limit = np.array(memory.settled.apart) + self.ridge
        if (self.fresh_masses(memory) >= limit).any():
            return self._switched(memory)
        return memory

    def playing(self, memory: Data) -> Hashable:
        """Return the number of switches."""
        return memory.switches

    def score(self, memory: Data) -> float:
        """Return the importance score of the fresh data (theory 2.13)."""
        limit = np.array(memory.settled.apart) + self.ridge
        return float((self.fresh_masses(memory) / limit).max(initial=0.0))

    def fresh_masses(self, memory: Data) -> FloatArray:
        """Return the sum of (f_i - f_j)^2 over Z_new, for all i < j, from counts."""
        one, other = np.triu_indices(len(self.known.simulators), 1)
        visits = np.add.reduceat(np.array(memory.fresh), self.observed.indptr[:-1])
        mass: FloatArray = np.array(memory.carried.apart)
        for s, mean in enumerate(self.functions.mean[memory.current]):
            gap = mean[one] - mean[other]
            mass = mass + float(visits[self._row(memory, s)]) * (gap * gap)
        return mass

    def fresh_losses(self, memory: Data) -> FloatArray:
        """Return the sum of (f_m - y)^2 over Z_new, (M,), from counts."""
        loss: FloatArray = np.array(memory.carried.loss)
        outcome = self.functions.outcome[memory.current]
        for s, mean in enumerate(self.functions.mean[memory.current]):
            row = self._row(memory, s)
            for e in range(self.observed.indptr[row], self.observed.indptr[row + 1]):
                off = mean - outcome[e]
                loss = loss + float(memory.fresh[e]) * (off * off)
        return loss

    def _row(self, memory: Data, state: int) -> int:
        action = int(self.known.policy[memory.current, state])
        return state * self.known.simulators.n_actions + action

    def _switched(self, memory: Data) -> Data:
        apart, loss = self.fresh_masses(memory), self.fresh_losses(memory)
        fresh = Sums(tuple(apart.tolist()), tuple(loss.tolist()))
        apart = apart + np.array(memory.settled.apart)
        loss = loss + np.array(memory.settled.loss)
        members = loss.size
        square = np.zeros((members, members))
        square[np.triu_indices(members, 1)] = apart
        fit = int(loss.argmin())
        near = np.maximum(square[fit], square[:, fit]) <= self.radius
        alive = frozenset(int(m) for m in np.flatnonzero(near))
        return Data(
            current=next(int(m) for m in self.known.order if int(m) in alive),
            alive=alive,
            settled=Sums(tuple(apart.tolist()), tuple(loss.tolist())),
            carried=fresh if self.literal else memory.carried,  # errata E20
            fresh=(0,) * self.observed.n_edges,
            switches=memory.switches + 1,
        )

    @property
    def most_mass(self) -> float:
        """What bounds the sum of (f_k - f_*)^2 over all data (item 2)."""
        return 8.0 * self.radius + self.ridge + self.width**2

    @property
    def most_sum(self) -> float:
        """What bounds the sum of |f_k - f_*| over all steps (item 3)."""
        eluder = min(_pairs(self.functions.count), self.functions.mean[..., 0].size)
        within = sqrt(self.most_mass * eluder * self.horizon)
        return 1.0 + self.width * eluder + 2.0 * within

    @property
    def most_switches(self) -> float:
        """What bounds the number of switches (item 4)."""
        doublings = log2(1.0 + self.horizon * self.width**2 / self.ridge)
        return _pairs(self.functions.count) * doublings

    @property
    def most_regret(self) -> float:
        """What bounds the regret in every model of the class (item 5)."""
        climbs = (self.most_switches + 1.0) * self.width
        return self.most_sum + self.width / 2.0 + climbs + 1.0

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
        leave: bool = True,
    ) -> None:
        """Run one episode per key in compiled form, with the same memory's bits.

        Once no pair can fire before the horizon and nobody asks for a grid, the rest of
        the episode is replaced by its expectation: estimates keep their mean, and the
        record tells what happened in the `simulated` steps. `leave=False` simulates all
        of them, as does a real model outside the class. `lazy=False` looks at all pairs
        after every step.
        """
        if real.horizon > self.horizon:
            raise InvalidArgument(
                f"episodes of {real.horizon} steps, the agent was made for "
                f"{self.horizon}",
                hint="its constants depend on the horizon: make it for longer episodes",
            )
        known, plan = self.known, self.known.average
        unsure = plan.gain_upper - plan.gain_lower + plan.residual
        rewards = known.simulators.rewards
        shared = bool((rewards == rewards[:1]).all())
        seen = self.observed.signal is not RewardSignal.UNSEEN
        count, n_states = len(np.unique(known.policy, axis=0)), rewards.shape[1]
        work = count * n_states**3 * real.horizon.bit_length()
        wanted = lazy and leave and grid.size == 0 and work <= MOST_TAIL_WORK
        run_general(
            world,
            member,
            keys,
            known.plans(),
            Fits(
                bias=np.array(known.bias),
                mean=np.array(self.functions.mean),
                outcome=np.array(self.functions.outcome),
                highest=known.bias.max(axis=1),
            ),
            Rule(
                ridge=self.ridge,
                radius=self.radius,
                width=self.width,
                most_sum=self.most_sum,
                most_switches=self.most_switches,
                defect=float(2.0 * unsure.max()) if shared or seen else float("nan"),
                literal=self.literal,
                lazy=lazy,
            ),
            known.tails(real, member, wanted=wanted),
            grid,
            record,
        )


def general_optimistic(
    simulators: Known,
    horizon: int,
    *,
    width: Width = Width.SPAN,
    ridge: Ridge = Ridge.SPAN,
    radius: Radius = Radius.FINITE,
    literal: bool = False,
    signal: RewardSignal = RewardSignal.UNSEEN,
) -> GeneralOptimistic:
    """Return Algorithm 4 for a finite class and a horizon.

    `literal` runs the printed rule: Z_new is never emptied, Dl is the diameter, alpha
    is 4 D^2 + 1 and beta the radius with the cover, the least of the form
    c D^2 log(H N) that the proof allows; print leaves c open.
    """
    horizon = checked_horizon(horizon)
    known = class_knowledge(simulators, signal)
    if literal:
        width, ridge, radius = Width.DIAMETER, Ridge.PAPER, Radius.COVER
    functions = predictions(known)
    span = functions.width
    if width is Width.DIAMETER:
        span = _diameter(known) + functions.reward_width
    many = functions.count
    if radius is Radius.COVER:
        many = functions.cover(1.0 / max(horizon, 1))
    beta = 2.0 * span**2 * log(many * max(horizon, 1))
    return GeneralOptimistic(
        known=known,
        horizon=horizon,
        functions=functions,
        width=span,
        ridge=(4.0 if ridge is Ridge.PAPER else 1.0) * span**2 + 1.0,
        radius=beta + (6.0 * span if radius is Radius.COVER else 0.0),
        literal=literal,
    )


def _diameter(known: ClassKnowledge) -> float:
    """Return D; it bounds the span of a bias if rewards differ by at most 1."""
    rewards = known.simulators.rewards
    return float(diameter(known.simulators).upper * max(1.0, np.ptp(rewards)))


def _pairs(count: int) -> int:
    return count * (count - 1) // 2
