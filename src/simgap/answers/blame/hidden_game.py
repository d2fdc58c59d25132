"""The hidden game: what not knowing some parts of theta costs, each set of them.

v(S) is the average gap of the oracle if the parts in S stay hidden and all others are
told before the episode: the sum over what may be told, t, of P(t) times the average gap
of the class that is left. v(empty) = 0, v(N) is the gap of the whole class, and v is
monotone: an agent that is told more can act as if it had been told less.

Every class that is left is planned once, to a bracket. Before that its bracket is what
the whole class already says: the certified policy of the whole class loses at most
L = sum of weights times its gaps there, and two models have their pair price. Planning
stops at `gap_tolerance` of the class's own gap, or at `NEGLIGIBLE` of the whole one: a
class that hardly costs anything needs no digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from simgap.answers.blame.hidden_parts import Case, HiddenParts, cases, latent_of
from simgap.answers.blame.shapley import Game, narrowed
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

Told = Callable[[str], None]
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

    gap_tolerance: float = 0.05
    time_limit: float | None = 120.0  # seconds for everything, compilation apart
    seed: int = 0


@final
@dataclass(slots=True, eq=False)
class HiddenGame:
    """What is known of v so far."""

    parts: HiddenParts
    horizon: int
    effort: Effort
    tell: Told
    everything: Case
    whole: OracleResult | None  # None: all models are equal
    gaps: FloatArray  # (M,) of the whole class's certified policy
    begin: float
    known: dict[Key, Certified] = field(default_factory=dict)
    unfinished: set[Key] = field(default_factory=set)
    planned: int = 0

    def bracket(self, case: Case) -> Certified:
        """Return what is known of the average gap of a case."""
        key = _key(case)
        if key not in self.known:
            self.known[key] = self._before_planning(case)
        return self.known[key]

    def _before_planning(self, case: Case) -> Certified:
        if len(case.members) == 1 or self.whole is None:
            return Certified(0.0, 0.0)
        weights, members = np.array(case.weights), list(case.members)
        slack = _rounding(self.whole)
        most = float(weights @ self.gaps[members]) * (1.0 + 64.0 * EPS * len(members))
        most += slack
        if len(members) > 2:
            return Certified(0.0, most)
        prior = np.array(self.everything.weights)
        i, j = (self.everything.members.index(member) for member in members)
        same = abs(prior[i] / (prior[i] + prior[j]) - weights[0]) <= 64.0 * EPS
        if not same:  # merged models weigh differently here
            return Certified(0.0, most)
        low = float(self.whole.pair_prices_lower[i, j])
        high = float(self.whole.pair_prices_upper[i, j])
        margin = slack + 128.0 * EPS * abs(high)
        return Certified(max(0.0, low - margin), min(most, high + margin))


def begin_game(
    parts: HiddenParts,
    horizon: int,
    effort: Effort,
    tell: Told,
    *,
    alone: bool,
    oracle: OracleResult | None = None,
) -> HiddenGame:
    """Return a game with the whole class planned; `alone` if nothing else will be.

    `oracle` is that of the whole class, if it is planned already.
    """
    begin = working_seconds()
    everything = cases(parts, 2 ** len(parts.active) - 1)[0]
    gaps = np.zeros(len(parts.latent.simulators))
    if len(everything.members) == 1:
        return HiddenGame(parts, horizon, effort, tell, everything, None, gaps, begin)
    if oracle is not None:
        whole, found = _of_members(oracle, everything), oracle.average_gap
    else:
        tell("planning for the whole class")
        limit = effort.time_limit
        if limit is not None and not alone:
            limit *= FOR_THE_WHOLE
        solver = AutoOracle(
            gap_tolerance=effort.gap_tolerance,
            time_limit=limit,
            episodes=FEWEST_EPISODES,
            seed=effort.seed,
        )
        whole, found = _plan(parts, everything, horizon, solver)
    place = {member: at for at, member in enumerate(everything.members)}
    for m in parts.likely:  # and the first model equal to it, which may have no weight
        first = int(parts.first_equal[m])
        gaps[m] = gaps[first] = whole.gaps[place[first]]
    game = HiddenGame(parts, horizon, effort, tell, everything, whole, gaps, begin)
    key = _key(everything)
    game.known[key] = found
    if whole.outcome is Outcome.OUT_OF_TIME:
        game.unfinished.add(key)
    game.planned = 1
    return game


def _of_members(oracle: OracleResult, everything: Case) -> OracleResult:
    """Return the oracle of a class by the models that are told apart.

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


def plan_sets(game: HiddenGame, sets: Iterable[int]) -> dict[int, Certified]:
    """Return v of some sets, all their classes planned, the first sets first."""
    left = {each: cases(game.parts, each, several=True) for each in dict.fromkeys(sets)}
    todo: dict[Key, Case] = {}
    for each in left.values():
        for case in each:
            if _key(case) not in todo and _wanted(game, case):
                todo[_key(case)] = case
    _plan_all(game, list(todo.values()))
    return set_values(game, left)


def set_values(
    game: HiddenGame, left: dict[int, tuple[Case, ...]]
) -> dict[int, Certified]:
    """Return v of some sets from what is known, narrowed by monotony."""
    found = {each: _mean(game, left[each]) for each in left}
    sets = np.array(list(found), np.int64)
    low = np.array([each.lower for each in found.values()], np.float64)
    high = np.array([each.upper for each in found.values()], np.float64)
    low, high = narrowed(sets, low, high)
    return {
        int(each): Certified(float(a), float(b))
        for each, a, b in zip(sets, low, high, strict=True)
    }


def game_of(players: int, values: dict[int, Certified]) -> Game:
    """Return the table of all sets as a game."""
    every = [values[each] for each in range(2**players)]
    return Game(
        players,
        np.array([each.lower for each in every], np.float64),
        np.array([each.upper for each in every], np.float64),
    )


def count_plans(parts: HiddenParts, most: int) -> int | None:
    """Return how many classes the whole game has to plan; None if more than `most`."""
    seen: set[Key] = set()
    players = len(parts.active)
    by_size = sorted(range(2**players), key=lambda each: -each.bit_count())
    for hidden in by_size:
        seen.update(_key(case) for case in cases(parts, hidden, several=True))
        if len(seen) > most:
            return None
    return len(seen)


def _plan_all(game: HiddenGame, todo: list[Case]) -> None:
    """Plan every case with its part of the time, then unfinished ones with the rest.

    The parts are the same on every run, so that only a plan that runs out of time
    depends on the clock.
    """
    if not todo:
        return
    limit = game.effort.time_limit
    each = None
    if limit is not None:
        each = max(LEAST_SECONDS, (1.0 - FOR_THE_WHOLE) * limit / len(todo))
    for at, case in enumerate(todo):
        if _seconds_left(game) <= 0.0:
            game.unfinished.add(_key(case))
            continue
        game.tell(f"planning: {at} of {len(todo)} classes that may be left")
        _plan_case(game, case, each)
    again = [case for case in todo if _key(case) in game.unfinished]
    again.sort(key=lambda case: -case.chance * _width(game.bracket(case)))
    for at, case in enumerate(again):
        left = _seconds_left(game)
        share = 2.0 * left / (len(again) - at)
        if limit is None or left < WORTH_ANOTHER or share < 2.0 * (each or 0.0):
            return
        game.tell(f"planning longer: {at} of {len(again)} classes")
        _plan_case(game, case, min(left, share))


def _plan_case(game: HiddenGame, case: Case, limit: float | None) -> None:
    key, parts = _key(case), game.parts
    assert game.whole is not None
    place = {member: at for at, member in enumerate(game.everything.members)}
    optimal = game.whole.optimal[[place[member] for member in case.members]]
    informed = abs(float(np.array(case.weights) @ optimal))
    enough = _enough(game)
    negligible = min(0.5, enough / informed) if informed > 0.0 else 0.0
    if game.whole.outcome is Outcome.EXACT:  # then fewer models have fewer beliefs
        outcome, found = _exact(parts, case, game.horizon, limit)
    else:
        solver = AutoOracle(
            gap_tolerance=game.effort.gap_tolerance,
            time_limit=limit,
            negligible=negligible,
            episodes=FEWEST_EPISODES,
            seed=game.effort.seed,
        )
        result, found = _plan(parts, case, game.horizon, solver)
        outcome = result.outcome
    game.planned += 1
    game.known[key] = _both(game.bracket(case), found, _rounding(game.whole))
    if outcome is Outcome.OUT_OF_TIME and _wanted(game, case):
        game.unfinished.add(key)
    else:
        game.unfinished.discard(key)


def _exact(
    parts: HiddenParts, case: Case, horizon: int, limit: float | None
) -> tuple[Outcome, Certified]:
    """Return the bracket of a case by the exact solver, without policies to run."""
    form = loss_form(latent_of(parts, case), horizon=horizon)
    planned = solve_exact(form, ExactOracle(time_limit=limit), clock=working_seconds)
    if planned.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt
    return planned.outcome, Certified(planned.lower, planned.upper)


def _plan(
    parts: HiddenParts, case: Case, horizon: int, solver: AutoOracle
) -> tuple[OracleResult, Certified]:
    """Return the oracle of a case and its bracket."""
    latent = latent_of(parts, case)
    result = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
    if result.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt
    return result, result.average_gap


def _wanted(game: HiddenGame, case: Case) -> bool:
    """Return whether the bracket of a case is worth planning.

    Where the whole class was solved exactly, so are its parts.
    """
    if game.whole is None or len(case.members) == 1:
        return False
    now = game.bracket(case)
    if game.whole.outcome is Outcome.EXACT:
        return _width(now) > 0.0 and _key(case) != _key(game.everything)
    close = max(game.effort.gap_tolerance * now.upper, _enough(game))
    return _width(now) > close and _key(case) != _key(game.everything)


def _enough(game: HiddenGame) -> float:
    """Return a width that needs no more work."""
    whole = game.bracket(game.everything).upper
    assert whole is not None
    return NEGLIGIBLE * whole


def _mean(game: HiddenGame, left: tuple[Case, ...]) -> Certified:
    ends = [game.bracket(case).ends for case in left]
    slack = 4.0 * EPS * (len(left) + 2)  # of the chances
    mean = weighted_sum(
        (case.chance for case in left), (e[0] for e in ends), (e[1] for e in ends)
    )
    return mean.wider(slack * mean.ends[1]).not_negative()


def _both(one: Certified, two: Certified, rounding: float) -> Certified:
    """Return what both brackets say; they meet, up to rounding."""
    ends = one.lower, two.lower, one.upper, two.upper
    low, low_2, high, high_2 = (float(each or 0.0) for each in ends)
    least, most = max(low, low_2), min(high, high_2)
    if least > most * (1.0 + 1e-9) + rounding:
        raise AssertionError(f"two brackets of one gap do not meet: {one}, {two}")
    return Certified(min(least, most), max(least, most))


def _width(bracket: Certified) -> float:
    return bracket.upper - bracket.lower


def _rounding(whole: OracleResult) -> float:
    return 8.0 * whole.statistics.rounding


def _seconds_left(game: HiddenGame) -> float:
    limit = game.effort.time_limit
    if limit is None:
        return float("inf")
    return limit - (working_seconds() - game.begin)


def _key(case: Case) -> Key:
    return case.members, case.weights
