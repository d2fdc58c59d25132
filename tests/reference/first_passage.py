"""Algorithm 3 by hand: all histories, one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from tests.reference.rational import RationalMDP, Row


@final
@dataclass(frozen=True, slots=True)
class Rules:
    """What Algorithm 3 knows of its candidates."""

    models: Sequence[RationalMDP]
    biases: Sequence[Row]  # (M, S)
    policies: Sequence[Sequence[int]]  # (M, S)
    thresholds: Sequence[Row]  # (M, H), tolerance included
    order: Sequence[int]  # the most optimistic first
    two_sided: bool


@final
@dataclass(slots=True)
class Story:
    """What all histories together come to."""

    reward: Fraction = Fraction(0)
    eliminations: Fraction = Fraction(0)
    exhausted: Fraction = Fraction(0)
    steps: dict[int, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    eliminated: dict[int, Fraction] = field(
        default_factory=lambda: defaultdict(Fraction)
    )


def tell(real: RationalMDP, rules: Rules, start: Row, horizon: int) -> Story:
    """Walk through every history of H steps, as theory 3.2 has the algorithm.

    The statistic is the sum of P_k l_k (s, a) - l_k(s'), not its telescoped form.
    """
    story = Story()
    for state, chance in enumerate(start):
        if chance > 0:
            _walk(real, rules, story, (horizon, state, chance), (0, Fraction(0), 0))
    return story


def _walk(
    real: RationalMDP,
    rules: Rules,
    story: Story,
    here: tuple[int, int, Fraction],
    episode: tuple[int, Fraction, int],
) -> None:
    left, state, chance = here
    if left == 0:
        return
    number, stat, n = episode  # eliminations so far, statistic, steps of the episode
    k = rules.order[number % len(rules.order)]
    action, bias = rules.policies[k][state], rules.biases[k]
    story.reward += chance * real.rewards[state][action]
    story.steps[k] += chance
    claimed = rules.models[k].transitions[state][action]
    ahead = sum((p * v for p, v in zip(claimed, bias, strict=True)), Fraction(0))
    for after, p in enumerate(real.transitions[state][action]):
        if p == 0:
            continue
        new, grown = stat + ahead - bias[after], n + 1
        size = abs(new) if rules.two_sided else new
        then = (number, new, grown)
        if size > rules.thresholds[k][grown - 1]:
            then = (number + 1, Fraction(0), 0)
            story.eliminations += chance * p
            if number < len(rules.order):
                story.eliminated[k] += chance * p
            if number == len(rules.order) - 1:
                story.exhausted += chance * p
        _walk(real, rules, story, (left - 1, after, chance * p), then)


@final
@dataclass(frozen=True, slots=True)
class Walk:
    """A chain with jumps, and the band that c = sum of jumps has to stay in."""

    chances: Sequence[Row]  # (S, S)
    jumps: Sequence[int]
    rise: Row
    drift: Fraction
    unit: Fraction
    thresholds: Row  # (N + 1,)
    two_sided: bool
