"""Run jobs in this process, or in several that a crash cannot take along.

A worker opens the simulator and the policies by their names. A job whose worker dies is
run again alone, then in halves, until the episode is found that kills it: that one is
broken, the others count.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from simgap.continuous.measuring.jobs import Done, Job, Work, run_job
from simgap.errors import SimgapError
from simgap.interrupts import delayed_interrupts

Recipe = Callable[[], Work]  # can be sent to another process
LOOK = 1.0  # seconds between two looks whether the driver still lives


class Finished(NamedTuple):
    """A job and what it came to."""

    job: Job
    done: Done


class Crew:
    """Something that runs jobs; it is closed at the end."""

    def __init__(self, work: Work, recipe: Recipe | None, workers: int) -> None:
        self._work, self._recipe = work, recipe
        self._workers = workers if recipe is not None else 1
        self._pool: ProcessPoolExecutor | None = None

    def run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Return finished jobs, in the order in which they finish."""
        if self._workers == 1 or self._recipe is None:
            for job in jobs:
                yield Finished(job, run_job(self._work, job))
            return
        left = dict.fromkeys(jobs)
        try:
            for finished in self._in_pool(list(left), self._recipe):
                del left[finished.job]
                yield finished
        except BrokenProcessPool:
            self._drop()
            for job in list(left):
                yield Finished(job, _alone(job, self._recipe))

    def close(self) -> None:
        """End the workers."""
        self._drop()

    def _in_pool(self, jobs: Sequence[Job], recipe: Recipe) -> Iterator[Finished]:
        if self._pool is None:
            self._pool = _new_pool(recipe, self._workers)
        running: dict[Future[Done], Job] = {}
        waiting = iter(jobs)
        for job in waiting:
            running[_submitted(self._pool, job)] = job
            if len(running) == 2 * self._workers:
                break
        while running:
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                job = running.pop(future)
                done = future.result()
                if (following := next(waiting, None)) is not None:
                    running[_submitted(self._pool, following)] = following
                yield Finished(job, done)

    def _drop(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)


def _alone(job: Job, recipe: Recipe) -> Done:
    """Return what a job comes to whose worker may die."""
    pool = _new_pool(recipe, 1)
    try:
        return _submitted(pool, job).result()
    except BrokenProcessPool:
        parts = job.halves()
        if not parts:
            return _killed(job)
        return _joined(job, [_alone(part, recipe) for part in parts])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, job: Job) -> Future[Done]:
    """Hand a job over; a worker that is started for it is never interrupted.

    A terminal interrupts all processes at once: the driver decides what follows.
    """
    with delayed_interrupts():
        return pool.submit(_run, job)


def _new_pool(recipe: Recipe, workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        initializer=_begin,
        initargs=(recipe, os.getpid()),
    )


_mine: Work | SimgapError | None = None  # of this worker


def _begin(recipe: Recipe, driver: int) -> None:
    global _mine  # noqa: PLW0603 (a worker is a process of its own)
    sys.stdout = sys.stderr  # what a user's code prints is no answer
    threading.Thread(target=end_with, args=(driver,), daemon=True).start()
    try:
        _mine = recipe()
    except SimgapError as error:
        _mine = error


def end_with(driver: int) -> None:
    """End this process when the one that started it is gone."""
    while os.getppid() == driver:
        time.sleep(LOOK)
    os._exit(1)


def _run(job: Job) -> Done:
    if isinstance(_mine, SimgapError):
        raise _mine
    assert _mine is not None
    return run_job(_mine, job)


def _killed(job: Job) -> Done:
    nothing = np.full((1, 1), np.nan)
    text = "the process died in this episode (a crash or no memory left)"
    where = (job.points[0], job.episodes[0])
    return Done(nothing, nothing, 0, 0.0, ((*where, 0, "process-died", text),))


def _joined(job: Job, parts: Sequence[Done]) -> Done:
    """Return what the halves of a job come to together."""
    axis = 0 if job.points[1] - job.points[0] > 1 else 1
    return Done(
        np.concatenate([each.returns for each in parts], axis),
        np.concatenate([each.success for each in parts], axis),
        sum(each.steps for each in parts),
        sum(each.clipped for each in parts) / len(parts),
        tuple(sorted(found for each in parts for found in each.broken)),
    )
