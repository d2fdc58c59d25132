"""Algorithm 4 by the letter: lists of data, sums over all of them, in Fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import final

from simgap.base_policies.paper.general_optimistic import GeneralOptimistic
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal


@final
@dataclass(frozen=True, slots=True)
class Datum:
    """A step, and the model whose bias it is about."""

    state: int
    action: int
    bias: int
    outcome: Fraction  # l(s'), plus the reward if it is seen


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """Where the algorithm is after a step."""

    score: Fraction  # before a switch, if there is one
    switched: bool
    fit: int  # of the last switch, -1 before
    alive: frozenset[int]
    current: int
    data: tuple[Datum, ...]  # Z
    fresh: tuple[Datum, ...]  # Z_new


class ByTheLetter:
    """Algorithm 4 for the models, biases and constants of an agent."""

    def __init__(self, agent: GeneralOptimistic) -> None:
        self.agent = agent
        self.members = len(agent.known.simulators)
        self.ridge, self.radius = Fraction(agent.ridge), Fraction(agent.radius)
        self.value = cache(self._value)

    def follow(self, steps: Sequence[Step]) -> list[Moment]:
        """Return what the algorithm does along an episode."""
        everyone = frozenset(range(self.members))
        moment = Moment(Fraction(0), False, -1, everyone, self._best(everyone), (), ())
        moments = []
        for step in steps:
            moment = self._after(moment, step)
            moments.append(moment)
        return moments

    def mass(self, i: int, j: int, data: Sequence[Datum]) -> Fraction:
        """Return |f_i - f_j|^2 on a list of data."""
        return sum(((self._at(i, x) - self._at(j, x)) ** 2 for x in data), Fraction(0))

    def loss(self, m: int, data: Sequence[Datum]) -> Fraction:
        """Return sum (f_m - y)^2 over a list of data."""
        return sum(((self._at(m, x) - x.outcome) ** 2 for x in data), Fraction(0))

    def _after(self, moment: Moment, step: Step) -> Moment:
        fresh = (*moment.fresh, self._datum(step, moment.current))
        score = max(
            (
                self.mass(i, j, fresh) / (self.mass(i, j, moment.data) + self.ridge)
                for i, j in combinations(range(self.members), 2)
            ),
            default=Fraction(0),
        )
        if score < 1:
            return replace(moment, score=score, switched=False, fresh=fresh)
        data = moment.data + fresh
        fit = min(range(self.members), key=lambda m: (self.loss(m, data), m))
        alive = frozenset(
            m for m in range(self.members) if self.mass(m, fit, data) <= self.radius
        )
        kept = fresh if self.agent.literal else ()
        return Moment(score, True, fit, alive, self._best(alive), data, kept)

    def _best(self, alive: frozenset[int]) -> int:
        return next(int(m) for m in self.agent.known.order if int(m) in alive)

    def _datum(self, step: Step, bias: int) -> Datum:
        outcome = Fraction(float(self.agent.known.bias[bias, step.next_state]))
        if self._sees:
            assert step.reward is not None
            outcome += Fraction(step.reward)
        return Datum(step.state, step.action, bias, outcome)

    @property
    def _sees(self) -> bool:
        return self.agent.observed.signal is not RewardSignal.UNSEEN

    def _at(self, m: int, x: Datum) -> Fraction:
        return self.value(m, x.state, x.action, x.bias)

    def _value(self, m: int, state: int, action: int, bias: int) -> Fraction:
        """Return f_m(s, a, l_k) from the model itself."""
        known = self.agent.known
        model = known.simulators[m]
        row = model.transitions.array(0)[state, action]
        value = sum(
            Fraction(float(p)) * Fraction(float(v))
            for p, v in zip(row, known.bias[bias], strict=True)
        )
        if self._sees:
            value += Fraction(float(model.rewards[state, action]))
        return Fraction(value)
