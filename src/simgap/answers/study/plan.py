"""How much a study does: counted work, planned by the clock and never cut short by it.

A plan is made once, from measured speeds and a budget of seconds, and kept. A study
that is resumed follows the same plan, so that the same numbers come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace
from math import ceil, inf
from typing import final

from simgap.answers.study.kinds import MASKED, MEMORY, WINDOW, Kind, kinds_of
from simgap.errors import InvalidArgument
from simgap.records.note import Note
from simgap.text import counted

SEEDS, FEW_SEEDS = 5, 3
STEPS = 2_000_000  # of a training, without a budget
MOST_STEPS = 20_000_000  # of a training, however large the budget
LEAST_ROUNDS = 40  # of a training: with fewer nobody can tell whether it converged
FEW_ROUNDS = 200  # of a training: rather than less, fewer questions and seeds
MANY_ROUNDS = 300  # of a training: with as many there is time for another kind
PLANNED = 0.9  # of a budget; the rest is for what goes slower than expected
MEASURED = 0.1  # of a budget, at most, for the episodes of one question
LAST = 8.0  # seconds for intervals and the page
WORLDS = 512  # of identify, by one process
WIDTHS = 5  # that width trains on; warm starts make them (WIDTHS + 1) / 2 trainings
WIDTH_STEPS = 0.5  # of the steps of a training, for each width
KEPT = 2  # programs that a process of a training keeps
BEYOND = 1.25  # points beyond the range are measured as well
MOST_SETS = 6  # parameters: blame tells more of them one by one, in random orders
ORDERS = 24


@final
@dataclass(frozen=True, slots=True)
class Episodes:
    """At how many points is measured, in how many episodes of each policy at each."""

    points: int
    episodes: int

    @property
    def design(self) -> str:
        """Return the points in the words of `transfer`."""
        return f"sobol:{self.points}"

    @property
    def each(self) -> int:
        """Return the episodes of a policy."""
        return self.points * self.episodes


DESIGNS = tuple(  # the best first
    Episodes(*each)
    for each in ((64, 32), (64, 16), (32, 16), (32, 8), (16, 8), (16, 4), (8, 4))
)


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be studied, as far as it decides how long that takes."""

    parameters: int  # that vary
    horizon: int
    batch: int  # steps of a round of training
    seeds: int | None  # None: as many as there is time for
    budget: float | None  # seconds; None: no limit
    workers: int


@final
@dataclass(frozen=True, slots=True)
class WidthPlan:
    """How the question of width is answered."""

    seeds: int
    steps: int  # behind each policy
    episodes: Episodes


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a study does: all that decides its numbers."""

    schema: int = 1
    kinds: tuple[Kind, ...]
    seeds: int
    steps: int  # of each training
    transfer: Episodes
    blame: Episodes | None  # None: one parameter has all the blame
    worlds: int  # of identify
    width: WidthPlan | None  # None: no time for it
    seconds: dict[str, float]  # that each part is expected to take
    speeds: Speeds  # that were measured
    notes: tuple[Note, ...] = ()

    @property
    def expected(self) -> float:
        """Return the seconds of the whole study."""
        return sum(self.seconds.values())


def planned(asked: Asked, speeds: Speeds, spent: float = 0.0) -> Plan:
    """Return the most that a budget pays for, or refuse one that is too small.

    `spent` are seconds that went by before.
    """
    budget = asked.budget
    if budget is None:
        first = next(_choices(asked, WINDOW.memory in speeds.step))
        return _plan(asked, speeds, first, STEPS, spent)
    most = max(LEAST_ROUNDS, MOST_STEPS // asked.batch)
    choices = list(_choices(asked, WINDOW.memory in speeds.step))
    for choice in choices:

        def fits(rounds: int, choice: _Choice = choice) -> bool:
            steps = rounds * asked.batch
            found = _plan(asked, speeds, choice, steps, spent).expected
            return found <= PLANNED * budget

        rounds = _most(fits, most)
        if rounds >= choice.rounds:
            found = _plan(asked, speeds, choice, rounds * asked.batch, spent)
            return replace(found, notes=tuple(_notes(asked, choice)))
    last = choices[-1]
    steps = LEAST_ROUNDS * asked.batch
    enough = ceil(_plan(asked, speeds, last, steps, spent).expected / PLANNED)
    count = counted(last.seeds * len(last.kinds), "training")
    raise InvalidArgument(
        f"a time budget of {budget:g} seconds is too small for {count}",
        hint=f"give at least --time-budget {enough}, or fewer --seeds",
        code="budget-too-small",
    )


@final
@dataclass(frozen=True, slots=True)
class _Choice:
    """What may be done, and the rounds of a training that make it worth while."""

    kinds: tuple[Kind, ...]
    seeds: int
    rounds: int
    width: bool = False
    episodes: tuple[Episodes, ...] = DESIGNS


def _choices(asked: Asked, window: bool) -> Iterator[_Choice]:
    """Yield what may be done, the best first."""
    usual = kinds_of(asked.parameters, window=False)
    many, few = asked.seeds or SEEDS, asked.seeds or FEW_SEEDS
    if window:
        more = kinds_of(asked.parameters, window=True)
        yield _Choice(more, many, MANY_ROUNDS, width=True)
    yield _Choice(usual, many, FEW_ROUNDS, width=True)
    yield _Choice(usual, many, FEW_ROUNDS)
    yield _Choice(usual, few, LEAST_ROUNDS)
    yield _Choice(usual, few, LEAST_ROUNDS, episodes=DESIGNS[-1:])


def _plan(
    asked: Asked, speeds: Speeds, choice: _Choice, steps: int, spent: float
) -> Plan:
    seeds, workers = choice.seeds, asked.workers

    def seconds(policies: float, episodes: int) -> float:
        return measuring_seconds(policies, episodes, asked.horizon, speeds, workers)

    def affordable(policies: float) -> Episodes:
        limit = inf if asked.budget is None else MEASURED * asked.budget
        fitting = (e for e in choice.episodes if seconds(policies, e.each) <= limit)
        return next(fitting, choice.episodes[-1])

    trained = len(choice.kinds) * seeds * BEYOND
    blamed = (told_sets(asked.parameters) + 2) * seeds if MASKED in choice.kinds else 0
    width_seeds = min(seeds, workers * ceil(FEW_SEEDS / workers))
    wide = 2 * WIDTHS * width_seeds * BEYOND  # over all ranges, and over their own
    chain = (MEMORY, int((WIDTHS + 1) / 2 * WIDTH_STEPS * steps))
    jobs = [(kind, steps) for kind in choice.kinds for _ in range(seeds)]
    parts = {
        "planning": spent,
        "training": training_seconds(jobs, speeds, workers),
        "transfer": seconds(trained, affordable(trained).each),
    }
    if blamed:
        parts["blame"] = seconds(blamed, affordable(blamed).each)
    parts["identify"] = seconds(2 * seeds * workers, WORLDS)
    if choice.width:
        parts["width"] = training_seconds(
            [chain] * width_seeds, speeds, workers
        ) + seconds(wide, affordable(wide).each)
    return Plan(
        kinds=choice.kinds,
        seeds=seeds,
        steps=steps,
        transfer=affordable(trained),
        blame=affordable(blamed) if blamed else None,
        worlds=WORLDS,
        width=WidthPlan(width_seeds, int(WIDTH_STEPS * steps), affordable(wide))
        if choice.width
        else None,
        seconds={**parts, "page": LAST},
        speeds=speeds,
    )


def _most(fits: Callable[[int], bool], most: int) -> int:
    """Return the greatest number up to `most` that fits, 0 if none does."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _notes(asked: Asked, choice: _Choice) -> Iterator[Note]:
    budget = f"{asked.budget:g} seconds"
    if asked.seeds is None and choice.seeds < SEEDS:
        yield Note(
            "few-seeds",
            f"seeds: {choice.seeds} instead of {SEEDS}, which is all that {budget} pay "
            "for; trainings differ, and intervals over so few are wide",
        )
    if not choice.width:
        yield Note(
            "no-time-for-width",
            f"how wide to randomize was not asked: {budget} do not pay for it",
        )


@final
@dataclass(frozen=True, slots=True)
class Speeds:
    """What things take on this machine, in seconds of one core."""

    begin: float  # until the first round of a training: process and compilation
    step: dict[str, float]  # of a training, by its memory
    measured_step: float  # of an episode that is measured
    first_episode: float  # until measuring begins

    def of(self, kind: Kind) -> float:
        """Return the seconds of a step of a training."""
        return self.step.get(kind.memory, self.step[MEMORY.memory])


def training_seconds(
    jobs: Sequence[tuple[Kind, int]], speeds: Speeds, workers: int
) -> float:
    """Return how long trainings take if each begins as soon as a process is free.

    A job is a kind and its steps. A process compiles a program that it has not kept.
    """
    free: list[tuple[float, int, tuple[object, ...]]]
    free = [(0.0, each, ()) for each in range(workers)]
    heapify(free)
    for kind, steps in jobs:
        now, worker, kept = free[0]
        if kind.program in kept:
            kept = tuple(each for each in kept if each != kind.program)
        else:
            now += speeds.begin
        now += steps * speeds.of(kind)
        heapreplace(free, (now, worker, (*kept, kind.program)[-KEPT:]))
    return max(now for now, _, _ in free)


def measuring_seconds(
    policies: float, episodes: int, horizon: int, speeds: Speeds, workers: int
) -> float:
    """Return how long so many episodes of each policy take."""
    steps = policies * episodes * horizon
    return speeds.first_episode + steps * speeds.measured_step / workers


def told_sets(parameters: int) -> int:
    """Return how many sets of parameters blame tells a policy, about."""
    few = parameters <= MOST_SETS
    return 2**parameters if few else ORDERS * parameters
