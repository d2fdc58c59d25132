"""PSRL: draw a model from the posterior, play its plan, draw again.

    counts = 0; t = 1
    repeat:                                                      # an episode
        P(. | s, a) ~ Dirichlet(weight + counts(s, a, .)) for all (s, a)
        policy = the plan of the model with transitions P, to accuracy 1 / sqrt(t)
        play it until the episode ends (`Schedule`)

The learner does not know the class U: it knows states, actions and rewards (see
`outsider`), and its prior has a weight for every next state: 1 (flat, the default) or
1 / S are usual. With the flat prior a row never visited leads anywhere, which is
pessimistic where rewards are far away: long rivers are not learned. Osband, Russo and
Van Roy (2013) draw a model at the start of every episode of the environment; here
there is one long episode, and the schedule decides.

Guarantee of Schedule.GROWING (TSDE: Ouyang, Gagrani, Nayyar and Jain 2017): the mean
regret over models drawn from the prior is of order B S sqrt(A H), up to logarithms, if
all their biases have span at most B. Schedule.DOUBLING has no such theorem, and can
stay with a plan that teaches it nothing. Neither says anything about one fixed model.

Gain and plan of a drawn model come from relative value iteration: for any v,
min (Tv - v) <= gain <= max (Tv - v), and the greedy policy earns at least the lower
end. Sweeps start from the values of the plan before and stop when the bracket is
narrower than (max R - min R) / sqrt(t).

Random numbers are fixed before the episode: `with_stream` is the policy for one random
stream, and the compiled form draws the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar, final

import numpy as np

from simgap._kernels.agents.psrl import empty_draw, plan_psrl, run_psrl
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

LARGEST_MODEL = 2**27  # probabilities of a drawn model
LEAST = 1e-6  # weight: floats hold the logarithms of its variates


class Schedule(Enum):
    """When a new model is drawn."""

    DOUBLING = "before a pair is used more than max(1, N) times, as in UCRL2"
    GROWING = "after a pair is used more than N times, or one step later than last time"


@final
@dataclass(frozen=True, slots=True)
class Drawn:
    """What PSRL remembers."""

    counts: tuple[int, ...]  # (E,), steps by edge
    policy: tuple[int, ...]  # (S,), of this episode
    quota: tuple[int, ...]  # (S,), uses of the policy's action left in this episode
    values: tuple[float, ...]  # (S,), where the next plan starts
    plans: int  # made so far
    drawn: int  # random numbers used so far
    length: int  # steps of this episode
    longest: int  # steps that this episode may have


@final
@dataclass(frozen=True, slots=True, eq=False)
class PSRL(Learner):
    """Posterior sampling as a policy that knows rewards and no transitions."""

    name: ClassVar[str] = "psrl"
    weight: float  # of every next state in the prior
    schedule: Schedule
    stream: int | None = None

    def with_stream(self, key: int) -> PSRL:
        """Return the policy for one random stream."""
        return replace(self, stream=key)

    def start(self, state: int) -> Drawn:
        """Return the memory of an episode that begins in `state`: the first plan."""
        simulators = self.given.simulators
        check_state(state, simulators.n_states)
        nothing = Drawn(
            counts=(0,) * self.observed.n_edges,
            policy=(),
            quota=(),
            values=(0.0,) * simulators.n_states,
            plans=0,
            drawn=0,
            length=0,
            longest=0,
        )
        return self._planned(nothing, 1)

    def observe(self, memory: Drawn, step: Step) -> Drawn:
        """Return the memory after a step; the end of an episode asks for a draw."""
        counts, quota = self.given.counted(memory.counts, memory.quota, step)
        after = replace(memory, counts=counts, quota=quota, length=memory.length + 1)
        if self.schedule is Schedule.DOUBLING:
            over = after.quota[step.next_state] <= 0
        else:
            over = after.quota[step.state] <= 0 or after.length >= after.longest
        if not over or step.h + 1 >= self.horizon:
            return after
        return self._planned(after, step.h + 2)

    def _planned(self, memory: Drawn, step: int) -> Drawn:
        """Return the memory after a draw for the episode that begins with a step."""
        if self.stream is None:
            raise InvalidArgument(
                "posterior sampling draws random numbers, and has no stream of them",
                hint="psrl(...).with_stream(key) is the policy for one draw",
            )
        n_states, observed = self.given.simulators.n_states, self.observed
        rewards = self.given.known_rewards()
        values, policy = np.array(memory.values), np.zeros(n_states, np.int32)
        quota = np.zeros(n_states, np.int64)
        draw = empty_draw(rewards.size, n_states)
        sweeps, drawn = plan_psrl(
            np.uint64(self.stream),
            memory.drawn,
            np.array(observed.indptr),
            np.array(observed.next_state),
            np.array(memory.counts, np.int64),
            rewards,
            float(np.ptp(rewards)),
            self.weight,
            step,
            self.schedule is Schedule.GROWING,
            self.most_sweeps,
            values,
            policy,
            quota,
            draw,
        )
        if sweeps < 0:
            raise self.not_planned("the model drawn", step - 1, draw.bracket)
        return Drawn(
            counts=memory.counts,
            policy=tuple(policy.tolist()),
            quota=tuple(quota.tolist()),
            values=tuple(values.tolist()),
            plans=memory.plans + 1,
            drawn=drawn,
            length=0,
            longest=memory.length + 1,
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
        failed = run_psrl(
            world,
            keys,
            rewards,
            float(np.ptp(rewards)),
            self.weight,
            self.schedule is Schedule.GROWING,
            self.most_sweeps,
            grid,
            record,
            bracket,
        )
        if failed >= 0:
            raise self.not_planned("the model drawn", failed, bracket)


def psrl(
    simulators: Known,
    horizon: int,
    *,
    weight: float = 1.0,
    schedule: Schedule = Schedule.DOUBLING,
    most_sweeps: int = MOST_SWEEPS,
) -> PSRL:
    """Return posterior sampling for the states, actions and rewards of a class.

    `weight` is that of every next state in the Dirichlet prior.
    """
    horizon, given = checked_horizon(horizon), outsider(simulators)
    n_states, n_actions = given.simulators.n_states, given.simulators.n_actions
    if not isinstance(weight, int | float) or not LEAST <= weight <= 1.0 / LEAST:
        raise InvalidArgument(
            f"weight {weight!r} is out of range",
            hint=f"give a weight of every next state from {LEAST} to {1.0 / LEAST}, "
            "such as 1 or 1 / S",
        )
    if n_states**2 * n_actions > LARGEST_MODEL:
        raise InvalidArgument(
            f"a drawn model of {n_states} states and {n_actions} actions has no zeros "
            "and does not fit",
            hint="use UCRL2, which plans on what was seen",
        )
    return PSRL(
        given=given,
        horizon=horizon,
        weight=float(weight),
        schedule=schedule,
        most_sweeps=checked_sweeps(most_sweeps),
    )
