"""Measure: rounds of episodes until there are enough, every finished job kept.

A measurement that was stopped goes on where it was: finished jobs are read from the
ledger, and the numbers are the same as if it had never been stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from pathlib import Path
from time import monotonic
from typing import Protocol, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.cube import Cube, Failure
from simgap.continuous.measuring.jobs import (
    ROUND,
    Done,
    Job,
    Work,
    failures_of,
    jobs_of_round,
)
from simgap.continuous.measuring.kept_jobs import PART, KeptJobs, kept_jobs
from simgap.continuous.measuring.workers import Crew, Recipe
from simgap.errors import InvalidArgument
from simgap.interrupts import noticed_interrupts
from simgap.records.note import Note
from simgap.text import number

Tell = Callable[[str], None]
SLACK = 1e-9  # of the range of returns: what rounding may exceed it by


class More(Protocol):
    """Says after each round how many episodes each point shall have."""

    def __call__(self, cube: Cube, *, look: int, steps: int) -> int | None:
        """Return a larger number of episodes, or None: it is enough.

        `look` counts the rounds from 1 on, `steps` are those of the simulator so far.
        """
        ...


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One brought policy: its name in tables, and which training seed it is."""

    name: str
    training_seed: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What was measured, and what it took."""

    cube: Cube
    steps: int
    clipped: Mapping[str, float]  # share of the actions' numbers, by policy
    looks: int  # at what was met, to decide whether to go on; 0: nothing was decided
    earlier: datetime | None = None  # when it was run, if all of it was in the folder
    pace: float | None = None  # seconds of an episode, of those that were run just now

    @property
    def notes(self) -> tuple[Note, ...]:
        """Return what a reader must know: whether this was measured earlier."""
        if self.earlier is None:
            return ()
        text = (
            f"this was measured on {self.earlier:%Y-%m-%d at %H:%M}; files that the "
            "simulator reads may have changed since: another --out measures anew, as "
            "does --again of simgap transfer"
        )
        return (Note("measured-earlier", text),)


def measured(
    work: Work,
    entries: Sequence[Entry],
    *,
    episodes: int,
    references: Sequence[str] = (),
    paired: bool = True,
    more: More | None = None,
    folder: Path | None = None,
    identity: Mapping[str, str] | None = None,
    part: str = PART,
    recipe: Recipe | None = None,
    workers: int = 1,
    again: bool = False,
    progress: Tell = lambda _: None,
) -> Measured:
    """Return the returns of all policies at all points.

    There are `episodes` of each policy at each point, then as many as `more` asks for.
    With a `folder`, finished jobs are kept there, in a `part` of its ledger, and
    `identity` says what they are. With `again` those that are there count for nothing.
    """
    store = _Store(work, list(entries), tuple(references), paired)
    crew = Crew(work, recipe, workers)
    news = _News(work, store, progress)
    looks, wanted = 0, episodes
    try:
        with (
            kept_jobs(folder, identity or {}, part, again=again) as kept,
            noticed_interrupts() as check_interrupted,
        ):
            while True:
                news.wanted = wanted
                jobs = [
                    job
                    for first in range(store.length, wanted, ROUND)
                    for job in jobs_of_round(work, first, min(first + ROUND, wanted))
                ]
                store.lengthen(wanted)
                for job, done, fresh in _finished(jobs, crew, kept, check_interrupted):
                    store.add(job, done)
                    news.tell(job.size if fresh else 0)
                if more is None:
                    break
                looks += 1
                asked = more(store.cube(), look=looks, steps=store.steps)
                if asked is None:
                    break
                wanted = asked
    finally:
        crew.close()
    when = None if news.fresh else min(kept.earlier, default=None)
    earlier = None if when is None else datetime.fromtimestamp(when)
    return Measured(
        store.cube(), store.steps, store.clipped(), looks, earlier, news.pace
    )


def _finished(
    jobs: Sequence[Job],
    crew: Crew,
    kept: KeptJobs,
    check_interrupted: Callable[[], None],
) -> Iterator[tuple[Job, Done, bool]]:
    """Return all jobs finished, and whether just now: those of the ledger first."""
    left = []
    for job in jobs:
        found = kept.find(job)
        if found is None:
            left.append(job)
        else:
            yield job, found, False
    check_interrupted()
    for finished in crew.run(left):
        check_interrupted()  # a job that was interrupted unnoticed is not kept
        kept.keep(*finished)
        yield *finished, True
    kept.write()


class _Store:
    """The numbers of finished jobs, in place."""

    def __init__(
        self,
        work: Work,
        entries: list[Entry],
        references: tuple[str, ...],
        paired: bool,
    ) -> None:
        self._paired, self._bounds = paired, work.bounds
        self._work, self._entries, self._references = work, entries, references
        self._names = list(dict.fromkeys(each.name for each in entries))
        seeds = 1 + max(each.training_seed for each in entries)
        shape = (2, len(self._names), seeds, len(work.points.theta), 0)
        self._numbers: FloatArray = np.empty(shape)  # returns and successes
        self._sums, self._counts = np.zeros((2, len(self._names), shape[3]))
        self._failures: list[Failure] = []
        self._clipped: dict[str, list[tuple[float, int]]] = {}
        self.steps, self.done = 0, 0

    @property
    def length(self) -> int:
        """Return how many episodes of a policy at a point have a place."""
        return int(self._numbers.shape[-1])

    def lengthen(self, episodes: int) -> None:
        """Make place for so many episodes of a policy at a point."""
        more = np.full((*self._numbers.shape[:-1], episodes - self.length), np.nan)
        self._numbers = np.concatenate([self._numbers, more], axis=-1)

    def add(self, job: Job, done: Done) -> None:
        """Put the numbers of a job into their place."""
        (low, high), (first, last) = job.points, job.episodes
        entry = self._entries[job.policy]
        self._check_bounds(job, done, entry)
        row = self._names.index(entry.name)
        here = (row, entry.training_seed, slice(low, high), slice(first, last))
        self._numbers[(0, *here)] = done.returns
        self._numbers[(1, *here)] = done.success
        fine = np.isfinite(done.returns)
        self._sums[row, low:high] += np.where(fine, done.returns, 0.0).sum(axis=1)
        self._counts[row, low:high] += fine.sum(axis=1)
        self._failures += failures_of(done, entry.name, entry.training_seed)
        self._clipped.setdefault(entry.name, []).append((done.clipped, job.size))
        self.steps += done.steps
        self.done += job.size

    def _check_bounds(self, job: Job, done: Done, entry: Entry) -> None:
        """Stop at a return that is said to be impossible; it is never clipped."""
        if self._bounds is None:
            return
        low, high = self._bounds
        room = SLACK * (high - low)
        wrong = (done.returns < low - room) | (done.returns > high + room)
        if not wrong.any():
            return
        point, episode = (int(each[0]) for each in np.nonzero(wrong))
        theta = self._work.points.theta[job.points[0] + point].tolist()
        where = ", ".join(
            f"{name}={value!r}"
            for name, value in zip(self._work.randomization.names, theta, strict=True)
        )
        found = float(done.returns[point, episode])
        raise InvalidArgument(
            f"{entry.name} returned {found!r} at {where}, episode "
            f"{job.episodes[0] + episode}; it is said to be between {low} and {high}",
            hint="declare wider bounds, or none: --bounds LOW,HIGH",
            code="bounds-broken",
        )

    def cube(self) -> Cube:
        """Return what was measured so far."""
        returns, success = self._numbers
        return Cube(
            policies=tuple(self._names),
            parameters=self._work.randomization.names,
            theta=self._work.points.theta,
            inside=self._work.points.inside,
            returns=returns,
            success=None if np.isnan(success).all() else success,
            references=self._references,
            paired=self._paired,
            bounds=self._bounds,
            failures=tuple(
                sorted(
                    self._failures,
                    key=lambda f: (f.policy, f.training_seed, f.point, f.episode),
                )
            ),
        )

    def clipped(self) -> dict[str, float]:
        """Return the share of clipped numbers of each policy's actions."""
        return {
            name: fsum(c * n for c, n in each) / sum(n for _, n in each)
            for name, each in sorted(self._clipped.items())
        }

    def worst(self) -> tuple[float, dict[str, float]] | None:
        """Return the least mean return of a point so far, and the point."""
        if not self._counts.any():
            return None
        mean = np.where(
            self._counts > 0, self._sums / np.maximum(self._counts, 1), np.inf
        )
        at = int(mean.min(axis=0).argmin())
        names = self._work.randomization.names
        theta = self._work.points.theta[at]
        return float(mean[:, at].min()), dict(zip(names, theta.tolist(), strict=True))


class _News:
    """Words about how far a measurement has come."""

    def __init__(self, work: Work, store: _Store, tell: Tell) -> None:
        self._store, self._tell, self._begin = store, tell, monotonic()
        self.fresh = 0  # episodes that were not in the ledger
        self._each = len(work.policies) * len(work.points.theta)
        self.wanted = 0  # episodes of each policy at each point

    @property
    def pace(self) -> float | None:
        """Return the seconds that an episode took so far, if any was run."""
        return (monotonic() - self._begin) / self.fresh if self.fresh else None

    def tell(self, fresh: int) -> None:
        """Say how many episodes are done, what is left, and the worst point."""
        self.fresh += fresh
        done = self._store.done
        every = self._each * self.wanted
        said = f"{done} of {every} episodes"
        if (pace := self.pace) is not None:  # else all were in the ledger
            said += f", {pace * (every - done):.0f} s left"
        if (worst := self._store.worst()) is not None:
            where = " ".join(f"{k}={number(v, 3)}" for k, v in worst[1].items())
            said += f"; worst so far {number(worst[0], 4)} at {where or 'nominal'}"
        self._tell(said)
