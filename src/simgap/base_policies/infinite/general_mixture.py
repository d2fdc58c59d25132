"""Algorithm 4 on a linear mixture class, in coordinates where the class is convex.

    Z = Znew = []; C = all of the class; plan = optimistic plan of C
    for h = 1..H:
        a = policy of the plan, greedy for its bias l; observe s'
        append (s, a, s', l) to Znew
        if score(Znew, Z) >= 1:
            Z += Znew; Znew = []                           (errata E20: the reset)
            C = confidence set of Z; plan = optimistic plan of C

Score, confidence set and plan are those of `mixture_confidence` and `mixture_planning`;
what the agent can lose is worked out in `mixture_guarantee`. It needs neither the
diameter nor a bound on the bias: every sample is divided by its own width.

Memory is a value. Fresh data are counts N(s, s'), since policy and bias stay the same
until the next switch; results do not depend on how often the score is computed. It
grows by at most m = max_s |x(s)|^2 a step, in the norm of V^-1, so that it need not be
computed for the next (1 - score) / m steps: no switch comes later for this.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.mixture_class import MixtureClass
from simgap.base_policies.infinite.mixture_confidence import (
    ConfidenceSet,
    confidence_set,
    score,
)
from simgap.base_policies.infinite.mixture_guarantee import (
    MixtureGuarantee,
    mixture_guarantee,
)
from simgap.base_policies.infinite.mixture_planning import relaxed_plan
from simgap.errors import InvalidArgument, OutsideClass
from simgap.planning import checked_horizon
from simgap.policies import Step, check_lived, check_name, check_state, check_step

Numbers = tuple[float, ...]
ROUNDING = 1e-9  # of the way to the next look, lest rounding skip a switch


@final
@dataclass(frozen=True, slots=True)
class MixtureData:
    """Z, and the plan that is played until the next switch."""

    gram: tuple[Numbers, ...]  # (r, r), sum x x^T over Z
    moment: Numbers  # (r,), sum x y over Z
    policy: tuple[int, ...]  # (S,)
    bias: Numbers  # (S,), of the plan
    gain: float  # of the plan: rho* is at most this while the real model is in C
    steps: int  # in Z
    switches: int
    refuted: bool  # whether data have ever contradicted every member of the class

    @property
    def span(self) -> float:
        """sp(l) of the plan."""
        return max(self.bias) - min(self.bias)


@final
@dataclass(frozen=True, slots=True)
class MixtureMemory:
    """What the agent remembers: Z and its plan, and counts of what came since."""

    data: MixtureData
    fresh: tuple[tuple[int, ...], ...]  # (S, S), steps s -> s' in Znew
    steps: int  # in Znew
    look_at: int  # steps in Znew at which the score is computed again


@final
@dataclass(frozen=True, slots=True, eq=False)
class OptimisticMixture:
    """Algorithm 4 on a mixture class; `optimistic_mixture` builds it."""

    name: str
    mixture: MixtureClass
    horizon: int
    ridge: float  # alpha / 4
    tolerance: float  # of planning, in units of the rewards
    first: MixtureMemory

    def start(self, state: int) -> MixtureMemory:
        """Return the memory of an agent without data."""
        check_state(state, self.mixture.n_states)
        return self.first

    def act(self, memory: MixtureMemory, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,): one of them is certain."""
        check_step(h, self.horizon)
        check_state(state, self.mixture.n_states)
        chances: FloatArray = np.zeros(self.mixture.n_actions)
        chances[memory.data.policy[state]] = 1.0
        return chances

    def observe(self, memory: MixtureMemory, step: Step) -> MixtureMemory:
        """Return the memory after a step: append, look at the score, switch."""
        self._check(memory, step)
        fresh = _with_one_more(memory.fresh, step.state, step.next_state)
        memory = MixtureMemory(memory.data, fresh, memory.steps + 1, memory.look_at)
        if memory.steps < memory.look_at:
            return memory
        found = self.score(memory)
        if found >= 1.0:
            return self._switched(memory)
        look_at = memory.steps + _steps_until(found, self._most_growth(memory.data))
        return MixtureMemory(memory.data, memory.fresh, memory.steps, look_at)

    def playing(self, memory: MixtureMemory) -> int:
        """Return the number of switches."""
        return memory.data.switches

    def score(self, memory: MixtureMemory) -> float:
        """Return lambda_max(sum of Znew, V)."""
        visits = np.asarray(memory.fresh).sum(axis=1)
        features, _ = self._samples(memory.data)
        return score((features.T * visits) @ features, self._metric(memory.data))

    def members(self, memory: MixtureMemory) -> ConfidenceSet:
        """Return the confidence set of Z, from which the plan was made."""
        return self._members(memory.data.gram, memory.data.moment)

    def guarantee(self, diameter: float) -> MixtureGuarantee:
        """Return what the agent can lose in a real model of this diameter."""
        return mixture_guarantee(
            dimension=self.mixture.dimension,
            feature_bound=self.mixture.region.feature_bound,
            horizon=self.horizon,
            ridge=self.ridge,
            diameter=diameter,
            spread=self.mixture.spread,
            defect=2.0 * self.tolerance,
        )

    def _switched(self, memory: MixtureMemory) -> MixtureMemory:
        data, r = memory.data, self.mixture.dimension
        counts = np.asarray(memory.fresh, np.float64)
        features, told = self._samples(data)
        gram = np.array(data.gram).reshape(r, r)
        gram = gram + (features.T * counts.sum(axis=1)) @ features
        moment = np.array(data.moment) + features.T @ (counts * told).sum(axis=1)
        return self._planned(
            _rows(gram), tuple(moment.tolist()), data, data.steps + memory.steps
        )

    def _planned(
        self,
        gram: tuple[Numbers, ...],
        moment: Numbers,
        before: MixtureData | None,
        steps: int,
    ) -> MixtureMemory:
        """Return the memory at the start of an episode with these data."""
        members = self._members(gram, moment)
        guess = None if before is None else np.array(before.bias)
        plan = relaxed_plan(
            self.mixture, members, tolerance=self.tolerance, guess=guess
        )
        data = MixtureData(
            gram=gram,
            moment=moment,
            policy=tuple(plan.policy.tolist()),
            bias=tuple(plan.bias.tolist()),
            gain=plan.gain,
            steps=steps,
            switches=0 if before is None else before.switches + 1,
            refuted=members.refuted or (before is not None and before.refuted),
        )
        nothing = ((0,) * self.mixture.n_states,) * self.mixture.n_states
        look_at = _steps_until(0.0, self._most_growth(data))
        return MixtureMemory(data, nothing, 0, look_at)

    def _members(self, gram: tuple[Numbers, ...], moment: Numbers) -> ConfidenceSet:
        return confidence_set(
            self.mixture.region,
            np.array(gram).reshape(2 * (self.mixture.dimension,)),
            np.array(moment),
            ridge=self.ridge,
            failure=1.0 / self.horizon,
        )

    def _samples(self, data: MixtureData) -> tuple[FloatArray, FloatArray]:
        """Return x(s) (S, r) and y(s, s') (S, S) of the plan that is played.

        States where l varies by no more than the tolerance tell nothing: x = y = 0.
        """
        states, policy = np.arange(self.mixture.n_states), np.array(data.policy)
        centre = self.mixture.centre[states, policy]
        bias = np.array(data.bias)
        least = np.where(centre > 0.0, bias, np.inf).min(axis=1)
        width = np.where(centre > 0.0, bias, -np.inf).max(axis=1) - least
        told = width > self.tolerance
        lifted = np.where(centre > 0.0, bias - least[:, None], 0.0)
        lifted *= (told / np.where(told, width, 1.0))[:, None]
        rows = self.mixture.directions[:, states, policy]
        features = np.einsum("ist,st->si", rows, lifted)
        return features, lifted - (centre * lifted).sum(axis=1)[:, None]

    def _metric(self, data: MixtureData) -> FloatArray:
        r = self.mixture.dimension
        return np.asarray(self.ridge * np.eye(r) + np.array(data.gram).reshape(r, r))

    def _most_growth(self, data: MixtureData) -> float:
        """Return the most that one step can add to the score."""
        features, _ = self._samples(data)
        solved = np.linalg.solve(self._metric(data), features.T)
        return float(np.einsum("si,is->s", features, solved).max(initial=0.0))

    def _check(self, memory: MixtureMemory, step: Step) -> None:
        mixture = self.mixture
        check_lived(step, self.horizon, mixture.n_states, mixture.n_actions)
        if memory.data.policy[step.state] != step.action:
            raise InvalidArgument(
                f"action {step.action} in state {step.state} is not what this agent "
                f"plays there, {memory.data.policy[step.state]}",
                hint="show the agent its own steps: features belong to its policy",
            )
        if mixture.centre[step.state, step.action, step.next_state] <= 0.0:
            raise OutsideClass(
                f"at step {step.h} action {step.action} in state {step.state} led to "
                f"state {step.next_state}, which no mixture of the class allows",
                hint="the world is not in the class: add a kernel that allows this",
                step=step,
            )


def optimistic_mixture(
    mixture: MixtureClass,
    horizon: int,
    *,
    ridge: float = 0.5,
    tolerance: float = 1e-6,
    name: str = "optimistic mixture",
) -> OptimisticMixture:
    """Return Algorithm 4 for a mixture class and a horizon (theory 3.3).

    The default ridge is the alpha of theory 3.3, Dl^2 + 1 = 2 for biases of span 1,
    which is 4 ridge. `tolerance` of planning counts in units of the spread of the
    rewards.
    """
    check_name(name)
    if checked_horizon(horizon) < 1:
        raise InvalidArgument("a horizon of 0", hint="give at least one step")
    for what, value in (("ridge", ridge), ("tolerance", tolerance)):
        if not (np.isfinite(value) and value > 0.0):
            raise InvalidArgument(
                f"{what} is {value!r}", hint="it is a positive number"
            )
    unit = mixture.spread or max(1.0, float(np.abs(mixture.rewards).max()))
    r = mixture.dimension
    nothing = MixtureMemory(
        MixtureData((), (), (), (), 0.0, 0, 0, refuted=False), (), 0, 0
    )
    blank = OptimisticMixture(name, mixture, horizon, ridge, tolerance * unit, nothing)
    first = blank._planned(_rows(np.zeros((r, r))), (0.0,) * r, None, 0)
    return OptimisticMixture(name, mixture, horizon, ridge, tolerance * unit, first)


def _with_one_more(
    counts: tuple[tuple[int, ...], ...], state: int, after: int
) -> tuple[tuple[int, ...], ...]:
    row = counts[state]
    row = (*row[:after], row[after] + 1, *row[after + 1 :])
    return (*counts[:state], row, *counts[state + 1 :])


def _steps_until(found: float, most: float) -> int:
    """Return after how many steps a score that grows by at most `most` may reach 1."""
    if most <= 0.0:
        return 2**62
    return max(1, floor(min((1.0 - found) * (1.0 - ROUNDING) / most, 2.0**61)))


def _rows(matrix: FloatArray) -> tuple[Numbers, ...]:
    return tuple(tuple(row) for row in matrix.tolist())
