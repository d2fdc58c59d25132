"""Posterior sampling over a class: play a model drawn from the posterior for a while.

    for k = 1, 2, ...:
        draw m from the posterior given everything seen; play pi_m, greedy for its bias,
        until a step has doubled the visits of its (s, a) since the episode began (one
        visit if there was none), or the episode is one step longer than the last one

The second rule (Ouyang, Gagrani, Nayyar and Jain, 2017) makes episodes frequent when
the plan that is played yields no information: with doubling alone a wrong plan can be
kept for a constant part of the whole horizon, and the regret has heavy tails.
`DOUBLING` exists to show this.

The first state is evidence if models differ in where they begin. A model that deems
impossible what was seen has posterior zero and is never drawn again; it counts as
eliminated when the next episode begins. If no model is left, the real model is outside
the class: what was seen is forgotten, and `Runs.resets` counts it.

All random numbers of an episode are fixed before it begins (`with_stream`); number k
decides draw k. The mean regret over models drawn from the prior is bounded in
`simgap.bounds.posterior_sampling`; no bound holds in every model at once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import Enum
from math import inf
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from simgap._kernels.agents.posterior_sampling import (
    drawn_model,
    run_posterior_sampling,
)
from simgap._kernels.walking.streams import uniform
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, FloatArray, OffsetArray, owned
from simgap.base_policies.improved.evidence import Evidence, evidence_of
from simgap.base_policies.insider import Follower
from simgap.base_policies.knowledge import Known, class_knowledge
from simgap.errors import InvalidArgument
from simgap.planning import checked_horizon
from simgap.policies import Step, check_state
from simgap.simulation import RealModels, RewardSignal

FORGOTTEN = -1  # first state of a history that was forgotten


class EpisodeRule(Enum):
    """When a new model is drawn."""

    CAPPED = "after visits have doubled, or one step later than the last time"
    DOUBLING = "after visits have doubled"


@final
@dataclass(frozen=True, slots=True)
class Drawn:
    """What posterior sampling remembers."""

    current: int  # the model that is played
    alive: frozenset[int]  # the models that could have been drawn
    number: int  # of this episode, from 0
    first_state: int  # of the history, or FORGOTTEN
    counts: tuple[int, ...]  # of the edges that tell models apart
    visits: tuple[int, ...]  # (S A,), of all pairs
    before: tuple[int, ...]  # (S A,), when the episode began
    length: int  # steps of this episode so far
    most: int  # steps after which it ends
    resets: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class PosteriorSampling(Follower):
    """Posterior sampling as a policy, for one random stream."""

    name: ClassVar[str] = "posterior-sampling"
    prior: FloatArray  # (M,)
    rule: EpisodeRule
    evidence: Evidence
    stream: int = 0  # the key of its own random numbers

    @property
    def log_prior(self) -> FloatArray:
        """Logarithms of the prior, (M,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.prior))

    def with_stream(self, key: int) -> PosteriorSampling:
        """Return the policy for one random stream."""
        return replace(self, stream=key)

    def start(self, state: int) -> Drawn:
        """Return the memory of an episode that begins in `state`."""
        check_state(state, self.known.simulators.n_states)
        nothing = (0,) * (self.observed.indptr.size - 1)
        return self._draw(0, state, self.evidence.nothing(), nothing, 0, 0)

    def observe(self, memory: Drawn, step: Step) -> Drawn:
        """Return the memory after a step; it may be the last one of a draw."""
        edge = self.observed.edge(step)
        row = int(self.observed.row[edge])
        counts = self.evidence.counted(memory.counts, edge)
        visits = tuple(n + (r == row) for r, n in enumerate(memory.visits))
        before, length = memory.before, memory.length + 1
        doubled = visits[row] - before[row] >= max(1, before[row])
        if doubled or length == memory.most:
            first, resets = memory.first_state, memory.resets
            return self._draw(memory.number + 1, first, counts, visits, length, resets)
        return replace(memory, counts=counts, visits=visits, length=length)

    def playing(self, memory: Drawn) -> Hashable:
        """Return the model that is played."""
        return memory.current

    def posterior(self, memory: Drawn) -> FloatArray:
        """Return the posterior given everything seen, (M,)."""
        logs = self._logs(memory.first_state, memory.counts)
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def _logs(self, first: int, counts: tuple[int, ...]) -> FloatArray:
        at_start = self.log_prior
        if first != FORGOTTEN:
            at_start = at_start + self.evidence.at_start[first]
        return self.evidence.log_likelihoods(at_start, counts)

    def _draw(
        self,
        number: int,
        first: int,
        counts: tuple[int, ...],
        visits: tuple[int, ...],
        length: int,
        resets: int,
    ) -> Drawn:
        """Return the memory at the start of an episode, after one of some length."""
        logs = self._logs(first, counts)
        if logs.max() == -inf:
            first, counts, resets = FORGOTTEN, self.evidence.nothing(), resets + 1
            logs = self._logs(first, counts)
        quantile = float(uniform(np.uint64(self.stream), number))
        return Drawn(
            current=int(drawn_model(logs, quantile)),
            alive=frozenset(int(m) for m in np.flatnonzero(logs > -inf)),
            number=number,
            first_state=first,
            counts=counts,
            visits=visits,
            before=visits,
            length=0,
            most=length + 1 if self.rule is EpisodeRule.CAPPED else self.horizon,
            resets=resets,
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
        """Run one episode per key in compiled form, with the same random stream."""
        run_posterior_sampling(
            world,
            keys,
            self.known.plans(),
            self.evidence.weights(),
            self.log_prior,
            self.rule is EpisodeRule.CAPPED,
            grid,
            record,
        )


def posterior_sampling(
    simulators: Known,
    horizon: int,
    *,
    prior: npt.ArrayLike | None = None,
    rule: EpisodeRule = EpisodeRule.CAPPED,
    signal: RewardSignal = RewardSignal.UNSEEN,
) -> PosteriorSampling:
    """Return posterior sampling over a class, with a uniform prior by default."""
    horizon = checked_horizon(horizon)
    known = class_knowledge(simulators, signal)
    members = len(known.simulators)
    weights: FloatArray = np.full(members, 1.0 / members)
    if prior is not None:
        weights = np.array(prior, np.float64)
    if (
        weights.shape != (members,)
        or not np.isfinite(weights).all()
        or (weights < 0.0).any()
        or abs(weights.sum() - 1.0) > 1e-9
    ):
        raise InvalidArgument(
            f"a prior {np.array2string(weights, threshold=8)} over {members} models",
            hint="give one probability per model; together they are 1",
        )
    return PosteriorSampling(
        known, horizon, owned(weights), rule, evidence_of(known.observed)
    )
