"""UCRL2 and UCRL2B: plan for the best model that the counts leave plausible.

    counts = 0; t = 1
    repeat:                                                      # an episode
        plausible(s, a) = the laws near the frequencies counts(s, a, .) / N(s, a)
        v, policy = extended value iteration over all of them, to accuracy 1 / sqrt(t)
        play the policy until a state comes whose pair (s, policy(s)) has been used
        max(1, N(s, a)) times in this episode: it has doubled

The learner does not know the class U: it knows states, actions and rewards (see
`outsider`), and any state may follow any other.

UCRL2 (Jaksch, Ortner and Auer 2010): an L1 ball of radius sqrt(14 S log(2 A t / delta)
/ max(1, N)). With probability at least 1 - delta the real model is in all of them, and
H rho* - rewards <= 34 D S sqrt(A H log(H / delta)) for rewards in [0, 1] and diameter D
(their theorem 2; known rewards only help).

UCRL2B (Fruit, Pirotta and Lazaric 2020): an interval for every p(s' | s, a) of radius
2 sqrt(p (1 - p) x / N) + 6 x / N around the frequency p, x = log(6 S A N / delta).
By the empirical Bernstein bound (|error| <= sqrt(2 p (1 - p) y / N) + 3 y / N but for
chance 3 e^-y, with y = 2 x) and a sum over N and all (s, a, s'), they hold together
with probability at least 1 - delta / 3. Plans are made to accuracy 1 / t.

Both count accuracy in units of max R - min R. Plans start from the values of the plan
before: the certificate of `_kernels.extended` does not ask where values come from, and
has sp(v) <= D (1 + 1 / sqrt(t)) where the proofs have D. At most S A log2(8 H / (S A))
plans are made if H >= S A.

While a ball or interval holds every law, all actions look the same but for their
reward, and the first plans are what the rule for ties makes of them: `ties` is part of
the algorithm. As long as the real model is plausible, the gain promised by a plan is
at least rho*, so H rho* - rewards <= sum of (promised gain) - rewards: that is `bound`
of a run. `slack` is the greatest distance of the real model from the frequencies, in
units of the radius.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import isfinite
from typing import final

import numpy as np

from simgap._kernels.agents.ucrl import plan_ucrl, run_ucrl
from simgap._kernels.solving.extended_values import empty_plausible, empty_sheet
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, OffsetArray
from simgap.base_policies.knowledge import Known
from simgap.base_policies.outsiders.outsider import (
    MOST_SWEEPS,
    Learner,
    checked_sweeps,
    outsider,
)
from simgap.errors import InvalidArgument
from simgap.planning import checked_horizon
from simgap.policies import Step, check_state
from simgap.simulation import RealModels


class Confidence(Enum):
    """Which laws are plausible."""

    BALL = "UCRL2: within an L1 distance of the frequencies"
    INTERVALS = "UCRL2B: an empirical Bernstein interval for every next state"


class Ties(Enum):
    """Which of the actions is played that look equally good."""

    LOWEST = "the first one"
    LEAST_VISITED = "the one used least, of these the first"


@final
@dataclass(frozen=True, slots=True)
class Learned:
    """What UCRL2 remembers."""

    counts: tuple[int, ...]  # (E,), steps by edge
    policy: tuple[int, ...]  # (S,), of this episode
    quota: tuple[int, ...]  # (S,), uses of the policy's action left in this episode
    values: tuple[float, ...]  # (S,), where the next plan starts
    plans: int  # made so far


@final
@dataclass(frozen=True, slots=True, eq=False)
class UCRL(Learner):
    """UCRL2 or UCRL2B as a policy that knows rewards and no transitions."""

    confidence: Confidence
    delta: float  # chance that the real model is ever implausible, at most
    factor: float  # of the published radius: 1 unless one wants to see it fail
    ties: Ties

    @property
    def name(self) -> str:
        return "ucrl2" if self.confidence is Confidence.BALL else "ucrl2b"

    def start(self, state: int) -> Learned:
        """Return the memory of an episode that begins in `state`: the first plan."""
        simulators = self.given.simulators
        check_state(state, simulators.n_states)
        nothing = (0,) * self.observed.n_edges
        return self._planned(nothing, (0.0,) * simulators.n_states, 1, 0)

    def observe(self, memory: Learned, step: Step) -> Learned:
        """Return the memory after a step; a pair that has doubled asks for a plan."""
        counts, quota = self.given.counted(memory.counts, memory.quota, step)
        if quota[step.next_state] > 0 or step.h + 1 >= self.horizon:
            return replace(memory, counts=counts, quota=quota)
        return self._planned(counts, memory.values, step.h + 2, memory.plans)

    def _planned(
        self, counts: tuple[int, ...], values: tuple[float, ...], step: int, plans: int
    ) -> Learned:
        """Return the memory after planning for the episode that begins with a step."""
        rewards, chart = self.given.known_rewards(), self.given.chart()
        n_states = self.given.simulators.n_states
        found, policy = np.array(values), np.zeros(n_states, np.int32)
        quota = np.zeros(n_states, np.int64)
        sheet = empty_sheet(rewards.size, n_states)
        sweeps = plan_ucrl(
            self.confidence is Confidence.BALL,
            chart,
            np.array(counts, np.int64),
            rewards,
            float(np.ptp(rewards)),
            step,
            self.delta,
            self.factor,
            self.ties is Ties.LEAST_VISITED,
            self.most_sweeps,
            found,
            policy,
            quota,
            empty_plausible(rewards.size, n_states, len(counts)),
            sheet,
        )
        if sweeps < 0:
            raise self.not_planned(f"the plan of {self.name}", step - 1, sheet.bracket)
        return Learned(
            counts,
            tuple(policy.tolist()),
            tuple(quota.tolist()),
            tuple(found.tolist()),
            plans + 1,
        )

    def run(
        self,
        real: RealModels,
        world: World,
        member: int,
        keys: AnyArray,
        grid: OffsetArray,
        record: Record,
    ) -> None:
        """Run one episode per key in compiled form, with the same memory's bits."""
        rewards, bracket = self.given.rewards_in(world), np.zeros(2)
        failed = run_ucrl(
            world,
            keys,
            self.confidence is Confidence.BALL,
            self.given.chart(),
            rewards,
            float(np.ptp(rewards)),
            self.delta,
            self.factor,
            self.ties is Ties.LEAST_VISITED,
            self.most_sweeps,
            grid,
            record,
            bracket,
        )
        if failed >= 0:
            raise self.not_planned(f"the plan of {self.name}", failed, bracket)


def ucrl2(
    simulators: Known,
    horizon: int,
    *,
    delta: float | None = None,
    factor: float = 1.0,
    ties: Ties = Ties.LOWEST,
    most_sweeps: int = MOST_SWEEPS,
) -> UCRL:
    """Return UCRL2 for the states, actions and rewards of a class (delta: 1 / H)."""
    horizon = checked_horizon(horizon)
    level = 1.0 / max(1, horizon) if delta is None else delta
    if not isinstance(level, int | float) or not 0.0 < level <= 1.0:
        raise InvalidArgument(
            f"delta {delta!r} is out of range",
            hint="give the chance of a mistake, above 0 and at most 1",
        )
    if not isinstance(factor, int | float) or not isfinite(factor) or factor <= 0.0:
        raise InvalidArgument(
            f"factor {factor!r} is out of range",
            hint="give a positive factor of the published radius, which is 1",
        )
    return UCRL(
        given=outsider(simulators),
        horizon=horizon,
        confidence=Confidence.BALL,
        delta=float(level),
        factor=float(factor),
        ties=ties,
        most_sweeps=checked_sweeps(most_sweeps),
    )


def ucrl2b(
    simulators: Known,
    horizon: int,
    *,
    delta: float | None = None,
    factor: float = 1.0,
    ties: Ties = Ties.LOWEST,
    most_sweeps: int = MOST_SWEEPS,
) -> UCRL:
    """Return UCRL2B for the states, actions and rewards of a class (delta: 1 / H)."""
    learner = ucrl2(
        simulators,
        horizon,
        delta=delta,
        factor=factor,
        ties=ties,
        most_sweeps=most_sweeps,
    )
    return replace(learner, confidence=Confidence.INTERVALS)
