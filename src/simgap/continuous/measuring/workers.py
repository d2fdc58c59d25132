"""Run jobs in this process, or in several that a crash cannot take along.

A worker opens the simulator and the policies by their names. A job whose worker dies is
run again alone, then in halves, until the episode is found that kills it: that one is
broken, the others count. In a command that runs code of users even one worker is a
process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from signal import SIGALRM
from typing import Any, NamedTuple

import numpy as np

from simgap.continuous.measuring.jobs import Done, Job, Work, run_job
from simgap.errors import InvalidArgument
from simgap.interrupts import WATCHER, memory_of_users, seconds_of_users, watched
from simgap.processes import Crew as Processes, Ended, Tell
from simgap.text import number

MOST_DEATHS = 16  # episodes that may end their process, before all is given up

Recipe = Callable[[], Work]  # can be sent to another process


class Finished(NamedTuple):
    """A job and what it came to."""

    job: Job
    done: Done


class Crew:
    """Something that runs jobs; it is closed at the end."""

    def __init__(self, work: Work, recipe: Recipe | None, workers: int) -> None:
        self._work, self._steps, self._deaths = work, 0, 0
        self._side_by_side: Processes | None = None
        if recipe is not None and (workers > 1 or watched()):
            start = partial(_start, recipe)
            limits: dict[str, Any] = {
                "environment": {WATCHER: str(os.getpid())},
                "memory": memory_of_users(),
                "tries": 1,
                "patient": False,
            }
            self._side_by_side = Processes(start, workers, **limits)
            self._alone = Processes(start, 1, **limits, news=self._hear)

    def run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Return finished jobs, in the order in which they finish."""
        if self._side_by_side is None:
            for job in jobs:
                yield Finished(job, run_job(self._work, job))
            return
        died = []
        for ended in self._side_by_side.run(jobs):
            if (done := self._done(ended)) is None:
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

    def _hear(self, steps: int) -> None:
        self._steps = steps

    def _done(self, ended: Ended) -> Done | None:
        """Return what a job came to; None: its process died."""
        if ended.failure is None:
            return ended.result  # type: ignore[no-any-return]
        if ended.failure.code != "process-died":
            raise ended.failure
        if SIGALRM.name in ended.failure.problem:  # the limit that it has set itself
            raise InvalidArgument(
                f"a step took more than {number(seconds_of_users())} s: "
                f"{self._place(ended.task)}",
                hint="code that waits for ever? SIMGAP_USER_SECONDS=900 allows more",
                code="time-limit",
            )
        return None

    def _found(self, job: Job) -> Done:
        """Return what a job comes to whose worker may die."""
        self._steps = 0
        (ended,) = self._alone.run([job])
        if (done := self._done(ended)) is not None:
            return done
        parts = job.halves()
        if not parts:
            return self._killed(job)
        return _joined(job, [self._found(each) for each in parts])

    def _killed(self, job: Job) -> Done:
        self._deaths += 1
        if self._deaths > MOST_DEATHS:
            raise InvalidArgument(
                f"{self._deaths} episodes ended their process, the last one "
                f"{self._place(job)}",
                hint="a crash of a library, no memory left, or os._exit",
                code="process-died",
            )
        nothing = np.full((1, 1), np.nan)
        text = "the process died in this episode (a crash, os._exit or no memory left)"
        where = (job.points[0], job.episodes[0], self._steps)
        return Done(nothing, nothing, 0, 0.0, ((*where, "process-died", text),))

    def _place(self, job: Job) -> str:
        """Return where a job runs: policy, the first of its points, its episodes."""
        names = self._work.randomization.names
        theta = self._work.points.theta[job.points[0]].tolist()
        at = " ".join(f"{k}={number(v)}" for k, v in zip(names, theta, strict=True))
        first, last = job.episodes
        return (
            f"{self._work.policies[job.policy].name} at {at or 'nominal'}"
            f"{' and on' * (job.points[1] - job.points[0] > 1)}, "
            f"episode {first}{f' to {last - 1}' if last - first > 1 else ''}"
        )


def _start(recipe: Recipe, tell: Tell) -> Callable[[Job], Done]:
    work = recipe()

    def run(job: Job) -> Done:
        if job.size > 1:
            return run_job(work, job)
        return run_job(work, job, lambda step, *_: tell(step + 1))

    return run


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
