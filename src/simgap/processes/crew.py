"""A crew: worker processes that run tasks, and that are supervised.

A task that kills its process (a crash, `kill -9`, no memory left) costs only itself:
the process is replaced, and the task is run again. Everything that runs long here uses
this.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from io import BytesIO
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from time import monotonic
from types import TracebackType
from typing import Any, Self, final

from simgap.errors import InvalidArgument, SimgapError
from simgap.interrupts import counted_interrupts, delayed_interrupts
from simgap.processes.inside import Head, Start, TaskFailed, failure_of
from simgap.processes.worker import Running, Worker
from simgap.text import number

LOOK = 0.2  # seconds between two looks at limits and interrupts
STARTS = 3  # processes in a row that may die before they have started, if none has


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ended:
    """A task that has ended: with a result, or with a failure."""

    task: Any
    result: Any = None
    failure: SimgapError | None = None
    tries: int = 1
    seconds: float = 0.0  # of the last try
    peak: float | None = None  # GB of memory that its process held at most meanwhile


@final
@dataclass(frozen=True, slots=True, eq=False)
class Crew:
    """Up to `workers` processes, started when there are tasks for them.

    Each process calls `start(tell)` once; what that returns is called with one task
    after the other. `start`, tasks and results are pickled. What `tell` is given there
    is given to `news` here, in the same order and before the result of the task. What
    is printed in a worker goes to standard error.

    `close` ends the processes, as does the end of `with`. They also end by themselves
    when this process is gone, however it ended. Programs that tasks have started end
    with the process of the task.
    """

    start: Start
    workers: int
    _: KW_ONLY
    environment: Mapping[str, str] = field(default_factory=dict)  # set before imports
    seconds: float | None = None  # that a task may take
    memory: float | None = None  # GB (2^30 bytes) that its process may hold meanwhile
    tries: int = 2  # of a task whose process dies
    news: Callable[[Any], None] = lambda _: None
    patient: bool = True  # a first Ctrl-C lets running tasks end
    _workers: list[Worker] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        for name in ("workers", "tries"):
            if getattr(self, name) < 1:
                raise InvalidArgument(f"{name} is {getattr(self, name)}: at least 1")
        for name in ("seconds", "memory"):
            if (value := getattr(self, name)) is not None and not value > 0.0:
                raise InvalidArgument(f"{name} is {value}: above 0, or None for any")

    def run(self, tasks: Iterable[Any]) -> Iterator[Ended]:
        """Return tasks in the order in which they end; one run at a time.

        They are taken from `tasks` when there is a worker for them. A task ends with
        its result or with a failure:

        `process-died`: its process died, `tries` times, or was ended because something
        else than messages came from it. The same task is run again, with everything
        that it holds. `time-limit`, `memory-limit`: its process was
        ended. `task-failed`: something else than a SimgapError was raised, which the
        failure describes. A SimgapError is the failure itself.

        An error that `start` raises is raised here. So is KeyboardInterrupt: after one
        Ctrl-C tasks that run are finished first, but none is begun any more (unless the
        crew is not `patient`); after two, at once. Whoever has a handler of interrupts
        of their own keeps it.

        Processes are kept for the next run, unless this one is left before its end.
        """
        try:
            yield from _Run(self, self._workers).all(iter(tasks))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all processes at once."""
        with delayed_interrupts():
            while self._workers:
                self._workers.pop().end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


@final
class _Run:
    """One run of a crew over its tasks."""

    def __init__(self, crew: Crew, workers: list[Worker]) -> None:
        self._crew, self._workers = crew, workers
        self._waiting: deque[Running] = deque()  # taken, and with no worker
        self._deaths = 0  # before a start was done, in a row
        self._look = 0.0  # when limits are looked at again

    def all(self, tasks: Iterator[Any]) -> Iterator[Ended]:
        """Return tasks in the order in which they end."""
        ended: list[Ended] = []
        quiet = int(self._crew.patient)
        with counted_interrupts(quiet) as interrupts:
            while interrupts() <= quiet:
                if interrupts():
                    self._waiting.clear()
                else:
                    self._hand_out(tasks)
                yield from ended
                if not self._waiting and not any(e.running for e in self._workers):
                    break
                ended = list(self._listen())
        if interrupts():  # here none gets lost any more: the next one is raised
            raise KeyboardInterrupt

    def _hand_out(self, tasks: Iterator[Any]) -> None:
        """Give tasks to workers that have none; start workers for more."""
        idle = [each for each in self._workers if each.ready and not each.running]
        starting = sum(not (each.ready or each.running) for each in self._workers)
        new = self._crew.workers - len(self._workers)
        if self._deaths >= STARTS:  # fewer workers until one of them ends a task
            new = 0
        room = len(idle) + starting + new - len(self._waiting)
        for task in islice(tasks, max(room, 0)):
            sent = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
            self._waiting.append(Running(task, sent))
        for worker in idle[: len(self._waiting)]:
            worker.give(self._waiting.popleft())
        for _ in range(min(new, len(self._waiting) - starting)):
            self._begin()

    def _begin(self) -> Worker:
        resource_tracker.ensure_running()  # starting that would unblock interrupts
        with delayed_interrupts():  # none for the new process, none before it is listed
            self._workers.append(Worker(self._crew.start, self._crew.environment))
        return self._workers[-1]

    def _listen(self) -> Iterator[Ended]:
        """Wait until something happens; yield what has ended."""
        files = {file: each for each in self._workers for file in each.listened}
        ready = wait(files, LOOK)
        for worker in dict.fromkeys(files[file] for file in ready):
            open_still = worker.listened[0] in ready and worker.read()
            for message in worker.messages():
                yield from self._read(worker, *message)
            if worker.spoiled or not open_still:
                yield from self._died(worker)
        if monotonic() >= self._look:
            for worker in tuple(self._workers):
                yield from self._check(worker)
            self._look = monotonic() + LOOK

    def _read(self, worker: Worker, head: Head, rest: BytesIO) -> Iterator[Ended]:
        """Read a message."""
        try:
            content = pickle.load(rest)
        except Exception as error:
            content = failure_of(error)
            head = head._replace(kind="failed" if worker.ready else "not started")
        if head.kind == "not started":
            raise content
        if head.kind == "news":
            self._crew.news(content)
            return
        self._deaths = 0
        if head.kind == "started":
            worker.started()
            return
        task = worker.ended()
        result, failure = (None, content) if head.kind == "failed" else (content, None)
        tries = task.tries + 1
        yield Ended(task.task, result, failure, tries, head.seconds, head.peak)

    def _check(self, worker: Worker) -> Iterator[Ended]:
        """See whether a worker lives, and whether its task takes too much."""
        if worker.has_written():
            return  # first things first
        if not worker.alive:
            yield from self._died(worker)
        elif worker.ready and worker.running:
            spent = monotonic() - worker.began
            if failure := self._too_much(worker, spent):
                yield from self._end_by_limit(worker, failure, spent)

    def _too_much(self, worker: Worker, spent: float) -> SimgapError | None:
        seconds, memory = self._crew.seconds, self._crew.memory
        if seconds is not None and spent > seconds:
            took = f"stopped after {number(spent, 3)} s"
            allowed = f"{number(seconds)} s are allowed"
            return TaskFailed(f"{took}, {allowed}", code="time-limit")
        if memory is not None and (used := worker.resident) > memory:
            took = f"used {number(used, 3)} GB of memory"
            allowed = f"{number(memory)} GB are allowed"
            return TaskFailed(f"{took}, {allowed}", code="memory-limit")
        return None

    def _end_by_limit(
        self, worker: Worker, failure: SimgapError, spent: float
    ) -> Iterator[Ended]:
        """End a worker whose task takes too much.

        Memory may be what earlier tasks have left there: the task has another try in a
        process of its own.
        """
        yield from self._let_go(worker)
        if (task := worker.running) is None:  # it ended in the last moment
            return
        if failure.code == "memory-limit" and worker.used:
            self._begin().give(task)
        else:
            yield Ended(task.task, None, failure, task.tries + 1, spent)

    def _died(self, worker: Worker) -> Iterator[Ended]:
        """Run what ran in a dead worker again, or give it up."""
        spent = monotonic() - worker.began
        yield from self._let_go(worker)
        if (task := worker.running) is not None:
            task.tries += 1
            if task.tries < self._crew.tries:
                self._waiting.appendleft(task)
            else:
                often = "" if task.tries == 1 else f" {task.tries} times"
                failure = TaskFailed(
                    f"its process died{often}, the last time by {worker.how_it_ended}",
                    hint="a crash of a library, no memory left, or code that writes "
                    "where it has not opened anything",
                    code="process-died",
                )
                yield Ended(task.task, None, failure, task.tries, spent)
        self._deaths = 0 if worker.ready else self._deaths + 1
        if self._deaths >= STARTS and not any(each.ready for each in self._workers):
            raise self._no_start(worker)

    def _no_start(self, worker: Worker) -> SimgapError:
        """Return what to raise where no process can be started."""
        hint = (
            "a script of your own that starts processes needs the line "
            '`if __name__ == "__main__":` above its commands'
        )
        if worker.signalled:
            hint = "somebody ends them, or no memory is left: try fewer workers"
        return TaskFailed(
            f"{self._deaths} worker processes in a row died before they had started, "
            f"the last one by {worker.how_it_ended}",
            hint=hint,
            code="process-died",
        )

    def _let_go(self, worker: Worker) -> Iterator[Ended]:
        """End a worker, and read what it has still said."""
        worker.kill()
        while not worker.spoiled and worker.has_written() and worker.read():
            for message in worker.messages():
                yield from self._read(worker, *message)
        with delayed_interrupts():
            self._workers.remove(worker)
            worker.end()
