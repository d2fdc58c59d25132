"""Algorithms 1 and 2 as nested loops over fractions, as theory 3.1 has them.

An episode is a coroutine: it yields actions and is sent next states. Likelihoods are
products of fractions; nothing is counted, logged or resumed.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from fractions import Fraction
from math import ceil, log

from tests.reference.complexity import bhattacharyya, greatest_l1, separation
from tests.reference.rational import RationalMDP

Walk = Generator[int, int, None]


class Kind(Enum):
    """How a round ends."""

    CHERNOFF = auto()
    BHATTACHARYYA = auto()
    TRUNCATED_SPRT = auto()
    ANYTIME = auto()


@dataclass
class SlowElimination:
    """One episode; `alive` can be read at any time."""

    models: Sequence[RationalMDP]
    ways: Sequence[Sequence[Sequence[int]]]  # [model][target][state], actions
    lead: int  # steps for which a model leads
    kind: Kind
    odds: Fraction
    all_travel: bool
    state: int = 0
    alive: list[int] = field(default_factory=list)
    likelihood: list[Fraction] = field(default_factory=list)

    def stage_one(self, state: int) -> Walk:
        """Play until one model is left."""
        self.state = state
        self.alive = list(range(len(self.models)))
        self.likelihood = [Fraction(1) for _ in self.models]
        while len(self.alive) > 1:
            yield from self._round(*self.alive[:2])

    def _round(self, i: int, j: int) -> Walk:
        s0, a0 = self._informative(i, j)
        needed = self._samples(i, j)
        data: list[int] = []
        while True:
            for m in self._travel_set():
                for _ in range(self.lead):
                    if self.state == s0 or m not in self._travel_set():
                        break
                    yield from self._step(self.ways[m][s0][self.state])
                    if not {i, j} <= set(self.alive):
                        return
            if self.state != s0:
                continue
            yield from self._step(a0)
            data.append(self.state)
            if self.kind is Kind.ANYTIME:
                if not {i, j} <= set(self.alive):
                    return
            elif self._decided(i, j, s0, a0, data) or len(data) == needed:
                self.alive.remove(self._loser(i, j, s0, a0, data))
                return

    def _step(self, action: int) -> Walk:
        before = self.state
        self.state = yield action
        if self.kind is not Kind.ANYTIME:
            return
        for m, model in enumerate(self.models):
            self.likelihood[m] *= model.transitions[before][action][self.state]
        best = max(self.likelihood[m] for m in self.alive)
        self.alive = [m for m in self.alive if self.likelihood[m] * self.odds > best]

    def _travel_set(self) -> list[int]:
        return list(range(len(self.models))) if self.all_travel else list(self.alive)

    def _informative(self, i: int, j: int) -> tuple[int, int]:
        P, Q = self.models[i].transitions, self.models[j].transitions
        if self.kind is not Kind.BHATTACHARYYA:
            return greatest_l1(P, Q)[1]
        shared = {
            (s, a): bhattacharyya(P[s][a], Q[s][a])
            for s in range(len(P))
            for a in range(len(P[s]))
        }
        least = min(shared.values())
        return min(pair for pair, bc in shared.items() if bc - least < 1e-12)

    def _samples(self, i: int, j: int) -> int:
        if self.kind is Kind.BHATTACHARYYA:
            s, a = self._informative(i, j)
            P, Q = self.models[i].transitions, self.models[j].transitions
            shared = float(bhattacharyya(P[s][a], Q[s][a]))
            return 1 if shared == 0.0 else max(1, ceil(log(self.odds) / -log(shared)))
        apart = separation([model.transitions for model in self.models])[0]
        level = 2 * self.odds if self.kind is Kind.TRUNCATED_SPRT else self.odds
        return max(1, ceil(8.0 * log(level) / float(apart) ** 2))

    def _decided(self, i: int, j: int, s: int, a: int, data: Sequence[int]) -> bool:
        if self.kind is not Kind.TRUNCATED_SPRT:
            return False
        ratio = self._ratio(i, j, s, a, data)
        return ratio is None or max(ratio, 1 / ratio) >= 2 * self.odds

    def _ratio(
        self, i: int, j: int, s: int, a: int, data: Sequence[int]
    ) -> Fraction | None:
        """Return the ratio of likelihoods; None if it is 0 or infinite."""
        total = Fraction(1)
        for t in data:
            p, q = (self.models[m].transitions[s][a][t] for m in (i, j))
            if (p == 0) != (q == 0):
                return None
            total *= p / q if q else 1
        return total

    def _loser(self, i: int, j: int, s: int, a: int, data: Sequence[int]) -> int:
        ratio = self._ratio(i, j, s, a, data)
        if ratio is not None:
            return j if ratio >= 1 else i
        gone = [
            sum(self.models[m].transitions[s][a][t] == 0 for t in data) for m in (i, j)
        ]
        return i if gone[0] > gone[1] else j
