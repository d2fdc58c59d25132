"""Optimism with likelihood ratios: the base policy to use unless there is a reason.

    alive = U
    for h = 1..H:
        k = argmax gain over alive; a = pi_k(s), greedy for the bias l_k; observe s'
        L(m) *= P_m(s' | s, a) for every m
        alive -= {m : max L over alive >= M H L(m)}

Likelihoods are those of everything seen, the first state included if models differ in
where they begin. A model that deems impossible what happened is dropped at that step.
A model that is dropped stays dropped; the likeliest survivor is never dropped. Should
an observation be impossible for all survivors, all models that allow what was seen come
back (off the event below, or outside the class), and if there is none, what was seen is
forgotten: `Runs.resets` counts both.

Guarantee (theory 3.1, "anytime"). Under M*, L(m)/L(M*) is a nonnegative supermartingale
for actions chosen in any way, so by Ville's inequality M* is ever dropped with
probability at most (M-1)/(MH) <= 1/H. Likewise sqrt(L(k)/L(M*)) / prod_t BC_t(k) is a
nonnegative martingale, BC_t(k) the Bhattacharyya coefficient of P_k and P_* at the pair
played at step t; with probability 1 - 1/H it stays below MH for all k. While k and M*
survive, L(M*)/L(k) < MH, so that with probability 1 - 2/H

    sum over all data of -log BC_t(k) <= 1.5 log(MH)    while k survives,

which is checked in every run (`Runs.slack` is the greatest ratio of the two sides).
-log BC >= TV^2 / 2 and |(P_k - P_*) l_k| <= sp_k TV, so k played for n_k steps loses at
most sp_k sqrt(3 n_k log(MH)) through its kernel but for its last step, and with
rho_k >= rho* as for Algorithm 3 (theory 4.6)

    Reg(H) <= D_l sqrt(3 M H log(MH)) + (2M + 1) D_l + 2,    D_l = max_m sp(l_m):

2M spans for last steps and telescoping, one for the martingale part on the good event,
2 for the rest. Rewards that differ between models must be seen for this (theory 7.2),
and D_l is then max_m sp(l_m) + 1.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import inf, log
from typing import ClassVar, final

import numpy as np

from simgap._kernels.agents.likelihood_optimism import run_likelihood
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.base_policies.improved.evidence import Evidence, evidence_of
from simgap.base_policies.insider import Follower
from simgap.base_policies.knowledge import Known, class_knowledge
from simgap.planning import checked_horizon
from simgap.policies import Step, check_state
from simgap.simulation import ObservedClass, RealModels, RewardSignal

FORGOTTEN = -1  # first state of a history that was forgotten


@final
@dataclass(frozen=True, slots=True)
class Testimony:
    """What optimism with likelihood ratios remembers."""

    current: int  # the model that is played
    alive: frozenset[int]
    first_state: int  # or FORGOTTEN
    counts: tuple[int, ...]  # of the edges that tell models apart
    resets: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodOptimism(Follower):
    """Optimism with sequential likelihood ratios as a policy."""

    name: ClassVar[str] = "likelihood"
    evidence: Evidence

    @property
    def limit(self) -> float:
        """log(M H): a survivor's advantage from which on a model is dropped."""
        return log(max(2, len(self.known.simulators) * self.horizon))

    def start(self, state: int) -> Testimony:
        """Return the memory of an episode that begins in `state`."""
        check_state(state, self.known.simulators.n_states)
        everybody = self.everyone()
        return self._judged(everybody, state, self.evidence.nothing(), 0)

    def observe(self, memory: Testimony, step: Step) -> Testimony:
        """Return the memory after a step: who is outdone by whom."""
        counts = self.evidence.counted(memory.counts, self.observed.edge(step))
        return self._judged(memory.alive, memory.first_state, counts, memory.resets)

    def playing(self, memory: Testimony) -> Hashable:
        """Return the model that is played."""
        return memory.current

    def log_likelihoods(self, first_state: int, counts: tuple[int, ...]) -> FloatArray:
        """Return the log-likelihood of every model but for a common constant, (M,)."""
        at_start = self.evidence.at_start[first_state]
        if first_state == FORGOTTEN:
            at_start = np.zeros(self.evidence.members)
        return self.evidence.log_likelihoods(at_start, counts)

    def _judged(
        self, alive: frozenset[int], first: int, counts: tuple[int, ...], resets: int
    ) -> Testimony:
        logs = self.log_likelihoods(first, counts)
        left = self._not_outdone(alive, logs)
        if not left:  # not with the real model among the survivors
            resets += 1
            left = frozenset(int(m) for m in np.flatnonzero(logs > -inf))
            if not left:
                first, counts = FORGOTTEN, self.evidence.nothing()
                logs, left = np.zeros(len(logs)), frozenset(range(len(logs)))
            left = self._not_outdone(left, logs)
        best = next(int(m) for m in self.known.order if int(m) in left)
        return Testimony(best, left, first, counts, resets)

    def _not_outdone(self, alive: frozenset[int], logs: FloatArray) -> frozenset[int]:
        most = max(logs[m] for m in alive)
        if most == -inf:
            return frozenset()
        return frozenset(m for m in alive if most - logs[m] < self.limit)

    def _losses(self, member: int) -> FloatArray:
        if member < 0:  # nothing is claimed outside the class
            return np.zeros((0, self.observed.n_edges))
        return bhattacharyya_losses(self.observed, member)

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

        Once the plan is final and no grid is asked for, the rest of the episode is
        replaced by its expectation: estimates keep their mean, and the record tells
        what happened in the `simulated` steps. `leave=False` simulates all of them, as
        does a real model outside the class.
        """
        wanted = lazy and leave and grid.size == 0
        run_likelihood(
            world,
            member,
            keys,
            self.known.plans(),
            self.evidence.weights(),
            self._losses(member),
            self.limit,
            self.evidence.heaviest,
            lazy,
            self.known.tails(real, member, wanted=wanted),
            grid,
            record,
        )


def likelihood_optimism(
    simulators: Known, horizon: int, *, signal: RewardSignal = RewardSignal.UNSEEN
) -> LikelihoodOptimism:
    """Return optimism with sequential likelihood ratios for a class and a horizon."""
    horizon = checked_horizon(horizon)
    known = class_knowledge(simulators, signal)
    return LikelihoodOptimism(known, horizon, evidence_of(known.observed))


def bhattacharyya_losses(observed: ObservedClass, member: int) -> FloatArray:
    """Return -log BC(P_k, P_member) at the row of every edge, (M, E)."""
    chances = np.asarray(observed.chances)
    common = np.sqrt(chances * chances[member])
    begins = observed.indptr[:-1]
    overlap = np.add.reduceat(common, begins, axis=1)  # (M, S A)
    apart = np.maximum.reduceat(np.abs(chances - chances[member]), begins, axis=1)
    with np.errstate(divide="ignore"):
        losses = np.where(apart > 0.0, -np.log(np.minimum(overlap, 1.0)), 0.0)
    return np.ascontiguousarray(losses[:, observed.row])
