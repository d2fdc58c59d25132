"""Algorithm 3: play the candidate with the best gain until its bias is contradicted.

    alive = U; k = argmax gain over alive; stat = n = 0
    for h = 1..H:
        a = pi_k(s), greedy for the bias l_k; observe s'
        n += 1; stat += P_k l_k (s, a) - l_k(s')
        if |stat| > threshold_k(n): alive -= {k} (U again if none is left)
                                    k = argmax gain over alive; stat = n = 0

While k is played, rho_k + l_k(s) = R + P_k l_k, so the statistic telescopes to

    stat = n rho_k - (rewards seen) + l_k(first state) - l_k(state now):

a test of the rewards that k promised. It is computed from counts of rewards, so that
its bits do not depend on how often it is computed. With rewards that differ between
models and are not seen, the rewards of k itself stand in (theory 7.2).

Guarantee (theory 4.6): the real model is eliminated with probability at most 1/H, and
where it is not, the regret of the path is at most the sum over episodes of
threshold_k(n - e) + e sp_k + sp_k, e = 1 if the episode ended by elimination. `bound`
of a run is this sum, with the greatest step of the statistic for e sp_k (it is no
larger, except after a reward that k deems impossible), and `slack` the ratio of the two
sides. Nothing is claimed of runs in which the real model was eliminated, of the printed
rule, outside the class, and where rewards differ between models and are not seen. With
the VARIANCE threshold, a Freedman bound peeled over levels of the predictable variance
replaces Hoeffding's; the argument is the same.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from math import ceil, log, log2
from typing import ClassVar, final

import numpy as np

from simgap._kernels.agents.algorithm_3 import Candidates, run_optimistic, threshold
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.base_policies.insider import Follower
from simgap.base_policies.knowledge import ClassKnowledge, Known, class_knowledge
from simgap.errors import InvalidArgument
from simgap.intervals import EPS
from simgap.planning import checked_horizon, diameter
from simgap.policies import Step, check_state
from simgap.simulation import RealModels, RewardSignal

TOLERANCE = 1e-9  # of the span: keeps rounding from contradicting a bias of span zero


class Threshold(Enum):
    """When a statistic of n steps contradicts candidate k (theory 3.2)."""

    SHARP = "sp_k sqrt(n log(2 H^2) / 2)"
    PAPER = "D sqrt(2 n log(2 H M))"
    VARIANCE = "Freedman's bound with the variance that k itself predicts"


@final
@dataclass(frozen=True, slots=True)
class Episode:
    """What Algorithm 3 remembers."""

    current: int  # the model that is played
    alive: frozenset[int]
    first_state: int  # of this episode of k
    counts: tuple[int, ...]  # steps by level of reward (and variance)
    resets: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class OptimisticExploration(Follower):
    """Algorithm 3 as a policy; `literal` keeps the printed threshold (errata E17)."""

    name: ClassVar[str] = "optimistic"
    threshold: Threshold
    one_sided: bool
    literal: bool
    diameter: float  # NaN unless the threshold needs it
    levels: Levels

    def start(self, state: int) -> Episode:
        """Return the memory of an episode that begins in `state`."""
        check_state(state, self.known.simulators.n_states)
        alive = self.everyone()
        return self._play_best(alive, state, 0)

    def observe(self, memory: Episode, step: Step) -> Episode:
        """Return the memory after a step: the test of the current candidate."""
        edge, k = self.observed.edge(step), memory.current
        level = int(self.levels.of_edge[k, edge])
        counts = tuple(n + (j == level) for j, n in enumerate(memory.counts))
        mismatch = self.sees_mismatch and self.observed.chances[k, edge] == 0.0
        statistic = self.statistic(k, counts, memory.first_state, step.next_state)
        far = statistic if self.one_sided else abs(statistic)
        if not mismatch and far <= self.limit(k, counts):
            return Episode(k, memory.alive, memory.first_state, counts, memory.resets)
        alive, resets = memory.alive - {k}, memory.resets
        if not alive:  # errata E18: print does not say; the good event excludes it
            alive, resets = self.everyone(), resets + 1
        return self._play_best(alive, step.next_state, resets)

    def playing(self, memory: Episode) -> Hashable:
        """Return the episode of the algorithm: it changes with every elimination."""
        return memory.current, len(memory.alive), memory.resets

    def statistic(
        self, k: int, counts: tuple[int, ...], first: int, state: int
    ) -> float:
        """Return the sum of P_k l_k - l_k(s') over an episode, from its counts."""
        paid = 0.0
        for j, n in enumerate(counts):
            paid += n * float(self.levels.paid[k, j])
        bias = self.known.bias[k]
        promised = sum(counts) * float(self.known.gain[k])
        return promised - paid + float(bias[first]) - float(bias[state])

    def limit(self, k: int, counts: tuple[int, ...]) -> float:
        """Return how far the statistic may go, rounding included."""
        n = sum(counts)
        predicted = 0.0
        for j, each in enumerate(counts):
            predicted += each * float(self.levels.variance[k, j])
        return self._threshold(k, n, predicted) + float(self.levels.tolerance[k])

    def _threshold(self, k: int, n: int, predicted: float) -> float:
        return threshold(
            self.threshold is Threshold.VARIANCE,
            n - 1 if self.literal else n,  # errata E17: print has h - h0
            predicted,
            float(self.levels.width[k]),
            self.log_term,
        )

    @property
    def log_term(self) -> float:
        """The logarithm in the threshold."""
        horizon, members = max(self.horizon, 1), len(self.known.simulators)
        sides = 1.0 if self.one_sided else 2.0
        if self.threshold is Threshold.SHARP:
            return log(sides * horizon**2) / 2.0
        if self.threshold is Threshold.PAPER:
            return 2.0 * log(2.0 * horizon * members)
        return log(sides * horizon * (peeling_levels(horizon) + 1))

    @property
    def sees_mismatch(self) -> bool:
        """Whether a reward that k deems impossible rules it out (theory 7.2)."""
        return self.observed.signal is RewardSignal.SEEN

    @property
    def _claims(self) -> bool:
        """Whether the paths of this agent obey a theorem."""
        seen = self.observed.signal is not RewardSignal.UNSEEN
        return not self.literal and (seen or self.known.simulators.shared_rewards)

    def _play_best(self, alive: frozenset[int], state: int, resets: int) -> Episode:
        best = next(int(m) for m in self.known.order if int(m) in alive)
        nothing = (0,) * self.levels.paid.shape[1]
        return Episode(best, alive, state, nothing, resets)

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
    ) -> None:
        """Run one episode per key in compiled form, with the same memory's bits."""
        known, levels = self.known, self.levels
        run_optimistic(
            world,
            member,
            keys,
            known.plans(),
            Candidates(
                gain=np.array(known.gain),
                bias=np.array(known.bias),
                span=np.array(known.width),
                width=np.array(levels.width),
                tolerance=np.array(levels.tolerance),
                rounding=np.array(levels.rounding),
                of_edge=np.array(levels.of_edge),
                paid=np.array(levels.paid),
                variance=np.array(levels.variance),
                most_step=np.array(levels.most_step),
                most_drift=np.array(levels.most_drift),
                impossible=np.array(self.observed.chances == 0.0),
            ),
            self.threshold is Threshold.VARIANCE,
            self.log_term,
            self.literal,
            self.one_sided,
            self.sees_mismatch,
            self._claims,
            lazy,
            grid,
            record,
        )


def optimistic_exploration(
    simulators: Known,
    horizon: int,
    *,
    threshold: Threshold = Threshold.SHARP,
    one_sided: bool = False,
    literal: bool = False,
    signal: RewardSignal = RewardSignal.UNSEEN,
) -> OptimisticExploration:
    """Return Algorithm 3 for a class and a horizon.

    `literal` runs the printed rule: the paper's threshold, zero at the first step.
    """
    horizon = checked_horizon(horizon)
    known = class_knowledge(simulators, signal)
    if literal and (threshold is Threshold.VARIANCE or one_sided):
        raise InvalidArgument(
            "the printed algorithm has neither a variance nor one side",
            hint="leave threshold and one_sided alone with literal=True",
        )
    kind = Threshold.PAPER if literal else threshold
    widest = float("nan")
    if kind is Threshold.PAPER:
        rewards = known.simulators.rewards  # print has them in [0, 1]
        spread = max(1.0, float(rewards.max() - rewards.min()))
        widest = spread * diameter(known.simulators).upper
        widest += 1.0 if known.observed.signal is RewardSignal.RANDOM else 0.0
    return OptimisticExploration(
        known=known,
        horizon=horizon,
        threshold=kind,
        one_sided=one_sided,
        literal=literal,
        diameter=widest,
        levels=_levels(known, horizon, kind, widest),
    )


def peeling_levels(horizon: int) -> int:
    """Return J: variances up to H sp^2 / 4 are peeled over sp^2 2^j, j = 0..J."""
    return ceil(log2(max(1.0, horizon / 4.0)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Steps of a candidate's episode that its statistic cannot tell apart."""

    of_edge: IndexArray  # (M, E), -1 where the candidate's policy does not go
    paid: FloatArray  # (M, J), the reward of a level
    variance: FloatArray  # (M, J), of l_k(s') there, if the threshold asks for it
    width: FloatArray  # (M,), sp_k or D: what multiplies the threshold
    tolerance: FloatArray  # (M,)
    rounding: FloatArray  # (M,), of a statistic computed in floating point
    most_step: FloatArray  # (M,), greatest change of the statistic in one step
    most_drift: FloatArray  # (M,), the same apart from the bias, which telescopes


def _levels(
    known: ClassKnowledge, horizon: int, kind: Threshold, widest: float
) -> Levels:
    observed, members = known.observed, len(known.simulators)
    n_actions, n_edges = known.simulators.n_actions, observed.n_edges
    of_edge = np.full((members, n_edges), -1, np.int32)
    steps, drifts, tables = np.zeros(members), np.zeros(members), []
    for k in range(members):
        state = observed.row // n_actions
        used = known.policy[k][state] == observed.row % n_actions
        unseen = observed.signal is RewardSignal.UNSEEN
        paid = (observed.reward[k] if unseen else observed.seen_reward)[used]
        bias, following = known.bias[k], observed.next_state[used]
        spread = np.zeros(paid.size)
        if kind is Threshold.VARIANCE:
            spread = _variances(known, k)[observed.row[used]]
        table, place = np.unique(
            np.stack([paid, spread], axis=1), axis=0, return_inverse=True
        )
        of_edge[k, used] = place.reshape(-1)
        tables.append(table)
        drift = known.gain[k] - paid
        drifts[k] = np.abs(drift).max()
        steps[k] = np.abs(drift + bias[state[used]] - bias[following]).max()
    longest = max(len(table) for table in tables)
    padded = np.stack([np.pad(t, ((0, longest - len(t)), (0, 0))) for t in tables])
    width = known.width if kind is not Threshold.PAPER else np.full(members, widest)
    largest = np.maximum(np.abs(known.gain), np.abs(padded[:, :, 0]).max(axis=1))
    rounding = EPS * ((longest + 3) * horizon * largest + 4.0 * known.width)
    tolerance = TOLERANCE * np.maximum(1.0, known.width) + horizon * known.residual
    return Levels(
        of_edge=of_edge,
        paid=padded[:, :, 0].copy(),
        variance=padded[:, :, 1].copy(),
        width=np.array(width),
        tolerance=tolerance + 4.0 * rounding,
        rounding=rounding,
        most_step=steps,
        most_drift=drifts,
    )


def _variances(known: ClassKnowledge, k: int) -> FloatArray:
    """Return the variance of reward plus l_k(s') in every row under model k, (S A,)."""
    observed = known.observed
    outcome = known.bias[k][observed.next_state]
    if observed.signal is RewardSignal.RANDOM:
        outcome = outcome + observed.seen_reward
    begins, chances = observed.indptr[:-1], observed.chances[k]
    mean = np.add.reduceat(chances * outcome, begins)
    apart = (outcome - mean[observed.row]) ** 2
    return np.asarray(np.add.reduceat(chances * apart, begins))
