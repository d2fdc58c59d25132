"""Running an agent on all cores; results do not depend on how many there are.

A run is one episode of one agent in one real model. Its random stream is a function of
(seed, number of the model, number of the run), so that runs can be made together or one
by one, in any order and on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from queue import Empty, SimpleQueue
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, BoolArray, FloatArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.interrupts import delayed_interrupts
from simgap.policies import Policy
from simgap.simulation.observed import ObservedClass
from simgap.simulation.stepwise import keys_of, run_stepwise
from simgap.simulation.worlds import RealModels

STEPS_PER_TASK = 2**24  # between two looks at the clock, and at Ctrl-C
MOST_RUNS = 10**8
LOOK = 0.1  # seconds between two looks at Ctrl-C while threads work
Progress = Callable[[int, int], None]  # runs done, runs in all


@runtime_checkable
class Program(Protocol):
    """An agent in compiled form."""

    @property
    def observed(self) -> ObservedClass:
        """The class as the agent sees it."""
        ...

    def run(
        self,
        real: RealModels,
        world: World,
        member: int,
        keys: AnyArray,
        grid: OffsetArray,
        record: Record,
    ) -> None:
        """Run one episode per key in a world; `member` is -1 outside the class."""
        ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Stepwise:
    """Any policy as a program that runs step by step in Python."""

    policy: Policy[Any]
    observed: ObservedClass

    def run(
        self,
        real: RealModels,
        world: World,
        member: int,
        keys: AnyArray,
        grid: OffsetArray,
        record: Record,
    ) -> None:
        """Run one episode per key in a world."""
        run_stepwise(self.policy, real, world, member, keys, grid, record)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """What n episodes of one agent in one real model left behind."""

    model: int
    name: str
    horizon: int
    reward: FloatArray  # (n,), sum of rewards
    gap: FloatArray  # (n,), unbiased for V*_1 - V^pi_1
    regret: FloatArray  # (n,), unbiased for H rho - sum of rewards
    bound: FloatArray  # (n,), pathwise bound of H rho - sum of rewards, or NaN
    slack: FloatArray  # (n,), greatest ratio of a checked inequality, or NaN
    switches: OffsetArray  # (n,)
    resets: OffsetArray  # (n,), how often no candidate was left
    identified: OffsetArray  # (n,), step at which the plan was final, or -1
    simulated: OffsetArray  # (n,), steps that were drawn
    eliminated: OffsetArray  # (n, M), step at which a model was first dropped, or -1
    grid: OffsetArray  # (G,), steps
    trace: FloatArray  # (n, G), regret at these steps
    final_state: OffsetArray  # (n,)

    @property
    def truth_eliminated(self) -> BoolArray:
        """Whether the real model was ever dropped, (n,)."""
        if self.model >= self.eliminated.shape[1]:
            return np.zeros(self.reward.size, np.bool_)
        return np.asarray(self.eliminated[:, self.model] >= 0)


def run_program(
    program: Program,
    real: RealModels,
    *,
    runs: int,
    seed: int,
    models: Sequence[int] | None = None,
    first_run: int = 0,
    grid: OffsetArray | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Runs, ...]:
    """Return `runs` episodes in each of the models (all of them by default).

    `first_run` numbers the first episode, so that more can be added later. `grid` asks
    for the regret after these numbers of steps.
    """
    chosen = list(range(len(real))) if models is None else list(models)
    _check(runs, first_run, seed, threads)
    marks = _checked_grid(grid, real.horizon)
    known = real.simulators is program.observed.simulators
    members = len(program.observed.simulators)
    records = [_empty(runs, members, marks.size) for _ in chosen]
    worlds = [real.world(m) for m in chosen]
    keys = [keys_of(seed, m, first_run, runs) for m in chosen]
    size = max(1, STEPS_PER_TASK // max(1, real.horizon))
    size = min(size, max(1, ceil(runs * len(chosen) / (4 * threads))))
    tasks = [
        (place, slice(first, min(runs, first + size)))
        for place in range(len(chosen))
        for first in range(0, runs, size)
    ]

    def work(place: int, part: slice) -> int:
        member = chosen[place]
        program.run(
            real,
            worlds[place],
            member if known else -1,
            keys[place][part],
            marks,
            _part(records[place], part),
        )
        return int(part.stop - part.start)

    done, whole = 0, runs * len(chosen)

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, whole)

    _in_threads(work, tasks, threads, told)
    return tuple(
        Runs(
            m,
            real.simulators.model_names[m],
            real.horizon,
            *(owned(field) for field in _ordered(record, marks)),
        )
        for m, record in zip(chosen, records, strict=True)
    )


def _in_threads(
    work: Callable[[int, slice], int],
    tasks: Sequence[tuple[int, slice]],
    threads: int,
    told: Callable[[int], None],
) -> None:
    """Do all tasks; `told` is given what each returns, in any order.

    An interrupt, or the end of the time, is raised between two of them: inside, it
    could leave a lock of the pool taken, and threads that wait for it for ever.
    """
    finished: SimpleQueue[Future[int]] = SimpleQueue()
    with (
        delayed_interrupts() as check,
        ThreadPoolExecutor(max_workers=threads) as pool,
    ):
        try:
            for task in tasks:
                pool.submit(work, *task).add_done_callback(finished.put)
            left = len(tasks)
            while left:
                check()
                check_time()
                with suppress(Empty):
                    told(finished.get(timeout=LOOK).result())
                    left -= 1
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def log_grid(horizon: int) -> OffsetArray:
    """Return steps 1..H, evenly spaced on a logarithmic scale, H among them."""
    if horizon < 1:
        return np.zeros(0, np.int64)
    count = max(2, ceil(10 * np.log10(max(horizon, 10))) + 1)
    steps = np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))
    return np.asarray(steps)


def _ordered(record: Record, grid: OffsetArray) -> tuple[AnyArray, ...]:
    before, trace, last = record[:10], record.trace, record.final_state
    return (*before, np.array(grid), trace, last)


def _empty(runs: int, members: int, marks: int) -> Record:
    unknown, zeros = np.full((5, runs), np.nan), np.zeros((4, runs), np.int64)
    return Record(
        reward=unknown[0],
        gap=unknown[1],
        regret=unknown[2],
        bound=unknown[3],
        slack=unknown[4],
        switches=zeros[0],
        resets=zeros[1],
        identified=np.full(runs, -1, np.int64),
        simulated=zeros[2],
        eliminated=np.full((runs, members), -1, np.int64),
        trace=np.full((runs, marks), np.nan),
        final_state=zeros[3],
    )


def _part(record: Record, part: slice) -> Record:
    return Record._make(field[part] for field in record)


def _checked_grid(grid: OffsetArray | None, horizon: int) -> OffsetArray:
    marks = np.zeros(0, np.int64) if grid is None else np.array(grid, np.int64)
    rising = marks.ndim == 1 and (np.diff(marks) > 0).all()
    if not rising or (marks < 1).any() or (marks > horizon).any():
        raise InvalidArgument(
            f"a grid of steps that is not increasing within 1 to {horizon}",
            hint="log_grid(horizon) makes one",
        )
    return marks


def _check(runs: int, first_run: int, seed: int, threads: int) -> None:
    for name, number, low, high in (
        ("runs", runs, 1, MOST_RUNS),
        ("first_run", first_run, 0, 2**62),
        ("seed", seed, 0, 2**64 - 1),
        ("threads", threads, 1, 4096),
    ):
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or not low <= number <= high:
            raise InvalidArgument(
                f"{name} is {number!r}", hint=f"a whole number from {low} to {high}"
            )
