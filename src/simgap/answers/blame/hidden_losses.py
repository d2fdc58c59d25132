"""What the best agent loses if only some parts are hidden, for each set of parts.

v(S) is the average loss of the best agent if the parts in S are hidden and it knows all
others before the episode: over the values of the known parts, the mean of the oracle's
average gap in the class of models that is left. v(empty) = 0, v(N) is the gap of the
whole class, and v is monotone: an agent that knows more can act as if it knew less.

Every class that is left is planned once, to a bracket. Before that its bracket is what
the whole class already says: the certified policy of the whole class loses at most the
weighted mean of its gaps in the models left, and two models have their pair price.
Planning stops at `gap_tolerance` of the class's own gap, or at `NEGLIGIBLE` of the
whole one: a class that hardly costs anything needs no digits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import final

import numpy as np

from simgap._kernels.time_limit import if_in_time
from simgap.answers.blame.hidden_parts import (
    HiddenParts,
    ModelsLeft,
    latent_of,
    models_left,
)
from simgap.answers.blame.shapley import narrowed
from simgap.answers.planned_class import Tell
from simgap.arrays import FloatArray
from simgap.intervals import EPS, Certified, weighted_sum
from simgap.oracle import (
    AutoOracle,
    ExactOracle,
    OracleResult,
    Outcome,
    domain_randomization_oracle,
    loss_form,
    solve_exact,
    working_seconds,
)

Key = tuple[tuple[int, ...], tuple[float, ...]]

NEGLIGIBLE = 0.01  # of the whole gap
FOR_THE_WHOLE = 0.4  # part of the time, if there is anything else to plan
LEAST_SECONDS = 0.05  # of a plan
WORTH_ANOTHER = 1.0  # seconds left, from which unfinished plans are made again
FEWEST_EPISODES = 2  # nobody reads the oracle's own estimate here


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """How well and how long to plan."""

    gap_tolerance: float
    time_limit: float | None  # seconds for everything, compilation apart
    seed: int


@final
@dataclass(slots=True, eq=False)
class HiddenLosses:
    """What is known so far of the loss in every class that may be left."""

    parts: HiddenParts
    horizon: int
    effort: Effort
    progress: Tell
    everything: ModelsLeft  # if nothing is known: the whole class
    oracle: OracleResult | None  # of the whole class; None: all models are equal
    gaps: FloatArray  # (M,) of the whole class's certified policy
    begin: float
    known: dict[Key, Certified] = field(default_factory=dict)
    unfinished: set[Key] = field(default_factory=set)
    planned: int = 0

    @property
    def whole(self) -> Certified:
        """Return the average gap of the whole class."""
        return self.bracket(self.everything)

    @property
    def rounding(self) -> float:
        """Return how far rounding may move a gap, absolute."""
        return 0.0 if self.oracle is None else self.oracle.statistics.rounding

    def bracket(self, left: ModelsLeft) -> Certified:
        """Return what is known of the average gap of the models that are left."""
        key = _key(left)
        if key not in self.known:
            self.known[key] = self._before_planning(left)
        return self.known[key]

    def _before_planning(self, left: ModelsLeft) -> Certified:
        if len(left.members) == 1 or self.oracle is None:
            return Certified(0.0, 0.0)
        weights, members = np.array(left.weights), list(left.members)
        slack = 8.0 * self.rounding
        most = float(weights @ self.gaps[members]) * (1.0 + 64.0 * EPS * len(members))
        most += slack
        if len(members) > 2:
            return Certified(0.0, most)
        prior = np.array(self.everything.weights)
        i, j = (self.everything.members.index(member) for member in members)
        same = abs(prior[i] / (prior[i] + prior[j]) - weights[0]) <= 64.0 * EPS
        if not same:  # merged models weigh differently here
            return Certified(0.0, most)
        low = float(self.oracle.pair_prices_lower[i, j])
        high = float(self.oracle.pair_prices_upper[i, j])
        margin = slack + 128.0 * EPS * abs(high)
        return Certified(max(0.0, low - margin), min(most, high + margin))


def whole_class_planned(
    parts: HiddenParts,
    horizon: int,
    effort: Effort,
    progress: Tell,
    *,
    alone: bool,
    oracle: OracleResult | None = None,
) -> HiddenLosses:
    """Return the losses with the whole class planned; `alone` if nothing else will be.

    `oracle` is that of the whole class, if it is planned already.
    """
    begin = working_seconds()
    (everything,) = models_left(parts, 2 ** len(parts.relevant) - 1)
    gaps = np.zeros(len(parts.latent.simulators))
    if len(everything.members) == 1:
        return HiddenLosses(
            parts, horizon, effort, progress, everything, None, gaps, begin
        )
    if oracle is not None:
        whole, found = _of_members(oracle, everything), oracle.average_gap
    else:
        progress("planning for the whole class")
        limit = effort.time_limit
        if limit is not None and not alone:
            limit *= FOR_THE_WHOLE
        solver = AutoOracle(
            gap_tolerance=effort.gap_tolerance,
            time_limit=limit,
            episodes=FEWEST_EPISODES,
            seed=effort.seed,
        )
        whole = _planned(parts, everything, horizon, solver)
        found = whole.average_gap
    place = {member: at for at, member in enumerate(everything.members)}
    for m in parts.possible:  # and the first model equal to it, maybe without weight
        first = int(parts.first_equal[m])
        gaps[m] = gaps[first] = whole.gaps[place[first]]
    losses = HiddenLosses(
        parts, horizon, effort, progress, everything, whole, gaps, begin
    )
    key = _key(everything)
    losses.known[key] = found
    if whole.outcome is Outcome.OUT_OF_TIME:
        losses.unfinished.add(key)
    losses.planned = 1
    return losses


def losses_of_sets(losses: HiddenLosses, sets: Iterable[int]) -> dict[int, Certified]:
    """Return v of some sets of hidden parts, narrowed because v is monotone.

    All their classes are planned, those of the first sets first.
    """
    left = {
        each: models_left(losses.parts, each, several=True)
        for each in dict.fromkeys(sets)
    }
    todo: dict[Key, ModelsLeft] = {}
    for classes in left.values():
        for each in classes:
            if _key(each) not in todo and _needs_planning(losses, each):
                todo[_key(each)] = each
    _plan_all(losses, list(todo.values()))
    found = [_mean(losses, classes) for classes in left.values()]
    numbers = np.array(list(left), np.int64)
    low, high = narrowed(
        numbers,
        np.array([each.lower for each in found], np.float64),
        np.array([each.upper for each in found], np.float64),
    )
    return {
        each: Certified(float(a), float(b))
        for each, a, b in zip(left, low, high, strict=True)
    }


def at_most_so_many_plans(parts: HiddenParts, most: int) -> bool:
    """Return whether all sets of hidden parts together have so few classes to plan."""
    seen: set[Key] = set()
    every = range(2 ** len(parts.relevant))
    for hidden in sorted(every, key=lambda each: -each.bit_count()):
        seen.update(map(_key, models_left(parts, hidden, several=True)))
        if len(seen) > most:
            return False
    return True


def _of_members(oracle: OracleResult, everything: ModelsLeft) -> OracleResult:
    """Return the oracle of a class by the models that differ and may be real.

    Those of prior zero are left out and equal ones merged. Merged models weigh more, so
    that nothing is known of what their pairs cost.
    """
    kept = list(everything.members)
    block = np.ix_(kept, kept)
    low, high = oracle.pair_prices_lower[block], oracle.pair_prices_upper[block]
    if not np.array_equal(oracle.prior[kept], np.array(everything.weights)):
        low, high = np.zeros_like(low), np.full_like(high, np.inf)
    return replace(
        oracle,
        prior=oracle.prior[kept],
        optimal=oracle.optimal[kept],
        values=oracle.values[kept],
        gaps=oracle.gaps[kept],
        gap_intervals=oracle.gap_intervals[kept],
        pair_prices_lower=low,
        pair_prices_upper=high,
    )


def _plan_all(losses: HiddenLosses, todo: list[ModelsLeft]) -> None:
    """Plan every class with its part of the time, then unfinished ones with the rest.

    The parts are the same on every run, so that only a plan that runs out of time
    depends on the clock.
    """
    if not todo:
        return
    limit = losses.effort.time_limit
    each = None
    if limit is not None:
        each = max(LEAST_SECONDS, (1.0 - FOR_THE_WHOLE) * limit / len(todo))
    for at, left in enumerate(todo):
        if _seconds_left(losses) <= 0.0:
            losses.unfinished.add(_key(left))
            continue
        losses.progress(f"planning: {at} of {len(todo)} classes that may be left")
        if_in_time(partial(_plan, losses, left, each))
    unfinished = [left for left in todo if _key(left) in losses.unfinished]
    unfinished.sort(key=lambda left: -left.probability * _width(losses.bracket(left)))
    for at, left in enumerate(unfinished):
        seconds = _seconds_left(losses)
        share = 2.0 * seconds / (len(unfinished) - at)
        if limit is None or seconds < WORTH_ANOTHER or share < 2.0 * (each or 0.0):
            return
        losses.progress(f"planning longer: {at} of {len(unfinished)} classes")
        if_in_time(partial(_plan, losses, left, min(seconds, share)))


def _plan(losses: HiddenLosses, left: ModelsLeft, limit: float | None) -> None:
    key, parts = _key(left), losses.parts
    losses.unfinished.add(key)
    assert losses.oracle is not None
    place = {member: at for at, member in enumerate(losses.everything.members)}
    optimal = losses.oracle.optimal[[place[member] for member in left.members]]
    informed = abs(float(np.array(left.weights) @ optimal))
    enough = NEGLIGIBLE * losses.whole.upper
    negligible = min(0.5, enough / informed) if informed > 0.0 else 0.0
    if losses.oracle.outcome is Outcome.EXACT:  # then fewer models have fewer beliefs
        outcome, found = _exactly(parts, left, losses.horizon, limit)
    else:
        solver = AutoOracle(
            gap_tolerance=losses.effort.gap_tolerance,
            time_limit=limit,
            negligible=negligible,
            episodes=FEWEST_EPISODES,
            seed=losses.effort.seed,
        )
        result = _planned(parts, left, losses.horizon, solver)
        outcome, found = result.outcome, result.average_gap
    losses.planned += 1
    losses.known[key] = _meet(losses.bracket(left), found, 8.0 * losses.rounding)
    if outcome is Outcome.OUT_OF_TIME and _needs_planning(losses, left):
        losses.unfinished.add(key)
    else:
        losses.unfinished.discard(key)


def _exactly(
    parts: HiddenParts, left: ModelsLeft, horizon: int, limit: float | None
) -> tuple[Outcome, Certified]:
    """Return the bracket of a class by the exact solver, without policies to run."""
    form = loss_form(latent_of(parts, left), horizon=horizon)
    planned = solve_exact(form, ExactOracle(time_limit=limit), clock=working_seconds)
    return planned.outcome, Certified(planned.lower, planned.upper)


def _planned(
    parts: HiddenParts, left: ModelsLeft, horizon: int, solver: AutoOracle
) -> OracleResult:
    latent = latent_of(parts, left)
    return domain_randomization_oracle(latent, horizon=horizon, solver=solver)


def _needs_planning(losses: HiddenLosses, left: ModelsLeft) -> bool:
    """Return whether the bracket of a class is worth planning.

    Where the whole class was solved exactly, so are its parts.
    """
    if losses.oracle is None or len(left.members) == 1:
        return False
    if _key(left) == _key(losses.everything):
        return False
    now = losses.bracket(left)
    if losses.oracle.outcome is Outcome.EXACT:
        return _width(now) > 0.0
    enough = NEGLIGIBLE * losses.whole.upper
    return _width(now) > max(losses.effort.gap_tolerance * now.upper, enough)


def _mean(losses: HiddenLosses, classes: tuple[ModelsLeft, ...]) -> Certified:
    ends = [losses.bracket(left).ends for left in classes]
    slack = 4.0 * EPS * (len(classes) + 2)  # of the probabilities
    mean = weighted_sum(
        (left.probability for left in classes),
        (lower for lower, _ in ends),
        (upper for _, upper in ends),
    )
    return mean.wider(slack * mean.upper).not_negative()


def _meet(one: Certified, two: Certified, rounding: float) -> Certified:
    """Return what two brackets of one gap say together; they meet, up to rounding."""
    least, most = max(one.lower, two.lower), min(one.upper, two.upper)
    if least > most * (1.0 + 1e-9) + rounding:
        raise AssertionError(f"two brackets of one gap do not meet: {one}, {two}")
    return Certified(min(least, most), max(least, most))


def _width(bracket: Certified) -> float:
    return bracket.upper - bracket.lower


def _seconds_left(losses: HiddenLosses) -> float:
    limit = losses.effort.time_limit
    if limit is None:
        return float("inf")
    return limit - (working_seconds() - losses.begin)


def _key(left: ModelsLeft) -> Key:
    return left.members, left.weights
