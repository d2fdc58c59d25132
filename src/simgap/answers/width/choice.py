"""The narrowest width that is good enough, and how sure that is.

A width is *good enough* if its mean return over nu is at most `spare` below that of the
best width. All pairs of widths are compared, training by training and episode by
episode. A width is

* *enough* if no other is better by more than `spare`, as far as all intervals go,
* *not enough* if some other one certainly is,
* *open* otherwise.

The narrowest width that is enough is recommended if all narrower ones are not enough;
else the question is undecided. A wrong recommendation needs one of two errors. Either
the width that should be recommended was found wanting, against one of K - 1 others; or
a narrower one was found to be enough, against the best one, and there are K - 1 pairs
with the best one. These are 2 (K - 1) ends of intervals, so that with intervals at
confidence 1 - a / (K - 1), which miss on either side with half of that chance, a
recommendation is wrong with chance a at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from simgap.continuous import (
    Combination,
    Cube,
    DrawnPoints,
    Level,
    averaged,
    returns_of_trainings,
)

Verdict = Literal["enough", "not enough", "open"]


class Choice(NamedTuple):
    """What the returns of all widths say, in the order of the widths."""

    best: int  # the greatest mean
    behind: tuple[Combination | None, ...]  # what the best one gets more; None: itself
    verdicts: tuple[Verdict, ...]
    recommended: int | None  # None: undecided
    guess: int  # the narrowest that seems to be enough


def chosen_width(
    cube: Cube,
    names: Sequence[str],
    points: DrawnPoints,
    *,
    spare: float,
    confidence: float,
) -> Choice:
    """Return which policy, from the narrowest range on, is good enough.

    Policies have the same training seeds: a wider one began where a narrower one was.
    """
    count = len(names)
    places = [cube.policies.index(each) for each in names]
    only = replace(
        cube,
        policies=tuple(names),
        returns=cube.returns[places],
        success=None,
        failures=tuple(each for each in cube.failures if each.policy in names),
        references=(),
    )
    level = Level(1.0 - (1.0 - confidence) / max(1, count - 1))
    returns = returns_of_trainings(only, points)
    more: dict[tuple[int, int], Combination] = {}  # (i, j): what j gets more than i
    for i, j in combinations(range(count), 2):
        more[i, j] = averaged(returns[j] - returns[i], cube.inside, level)
        more[j, i] = turned(more[i, j])
    behind = np.array(
        [[more[i, j].value.estimate if i != j else 0.0 for j in range(count)]
         for i in range(count)]
    )  # fmt: skip
    best = int(np.argmin(behind.max(axis=1)))
    verdicts = tuple(
        _verdict([more[i, j] for j in range(count) if j != i], spare)
        for i in range(count)
    )
    enough = [i for i, each in enumerate(verdicts) if each == "enough"]
    sure = bool(enough) and all(each == "not enough" for each in verdicts[: enough[0]])
    return Choice(
        best,
        tuple(more[i, best] if i != best else None for i in range(count)),
        verdicts,
        enough[0] if sure else None,
        next(i for i in range(count) if behind[i, best] <= spare),
    )


def turned(found: Combination) -> Combination:
    """Return the same difference the other way round."""
    return found._replace(
        value=found.value.changed(-1.0), evaluation=found.evaluation.changed(-1.0)
    )


def _verdict(others: Sequence[Combination], spare: float) -> Verdict:
    """Return what can be said of a width, from what each other one gets more."""
    if all(each.value.upper <= spare for each in others):
        return "enough"
    return "not enough" if any(e.value.lower > spare for e in others) else "open"
