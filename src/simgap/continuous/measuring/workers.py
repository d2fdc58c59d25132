"""Run jobs in this process, or in several that a crash cannot take along.

A worker opens the simulator and the policies by their names. A job whose worker dies is
run again alone, then in halves, until the episode is found that kills it: that one is
broken, the others count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from simgap.continuous.measuring.jobs import Done, Job, Work, run_job
from simgap.processes import Crew as Processes, Ended, Tell

Recipe = Callable[[], Work]  # can be sent to another process


class Finished(NamedTuple):
    """A job and what it came to."""

    job: Job
    done: Done


class Crew:
    """Something that runs jobs; it is closed at the end."""

    def __init__(self, work: Work, recipe: Recipe | None, workers: int) -> None:
        self._work = work
        self._side_by_side: Processes | None = None
        if recipe is not None and workers > 1:
            start = partial(_start, recipe)
            self._side_by_side = Processes(start, workers, tries=1, patient=False)
            self._alone = Processes(start, 1, tries=1, patient=False)

    def run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Return finished jobs, in the order in which they finish."""
        if self._side_by_side is None:
            for job in jobs:
                yield Finished(job, run_job(self._work, job))
            return
        died = []
        for ended in self._side_by_side.run(jobs):
            if (done := _done(ended)) is None:
                died.append(ended.task)
            else:
                yield Finished(ended.task, done)
        if died:
            self.close()  # the others hold memory
        for job in died:
            yield Finished(job, self._found(job))

    def close(self) -> None:
        """End the workers."""
        if self._side_by_side is not None:
            self._side_by_side.close()
            self._alone.close()

    def _found(self, job: Job) -> Done:
        """Return what a job comes to whose worker may die."""
        (ended,) = self._alone.run([job])
        if (done := _done(ended)) is not None:
            return done
        parts = job.halves()
        if not parts:
            return _killed(job)
        return _joined(job, [self._found(each) for each in parts])


def _start(recipe: Recipe, tell: Tell) -> Callable[[Job], Done]:
    return partial(run_job, recipe())


def _done(ended: Ended) -> Done | None:
    """Return what a job came to; None: its process died."""
    if ended.failure is None:
        return ended.result  # type: ignore[no-any-return]
    if ended.failure.code == "process-died":
        return None
    raise ended.failure


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
