"""A crew: worker processes that run tasks, and that are supervised.

A task that kills its process (a crash, `kill -9`, no memory left) costs only itself:
the process is replaced, and the task is run again. Everything that runs long here uses
this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any, Self, final

from simgap.errors import InvalidArgument
from simgap.interrupts import delayed_interrupts
from simgap.processes.inside import Start
from simgap.processes.member import Member
from simgap.processes.run import Ended, Limits, Run


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
    news: Callable[[Any], None] | None = None
    patient: bool = True  # a first Ctrl-C lets running tasks end
    clock: Callable[[], float] = monotonic  # by which tasks take seconds
    _members: list[Member] = field(init=False, default_factory=list)
    _one_run: Lock = field(init=False, default_factory=Lock)

    def __post_init__(self) -> None:
        for name in ("workers", "tries"):
            if getattr(self, name) < 1:
                raise InvalidArgument(f"{name} is {getattr(self, name)}: at least 1")
        for name in ("seconds", "memory"):
            if (value := getattr(self, name)) is not None and not value > 0.0:
                raise InvalidArgument(f"{name} is {value}: above 0, or None for any")

    def run(self, tasks: Iterable[Any]) -> Iterator[Ended]:
        """Return tasks in the order in which they end.

        They are taken from `tasks` only when a worker is nearly free: at most two for
        each worker are under way. A task ends with its result or with a failure:

        `process-died`: its process died, `tries` times. The same task is run again,
        with everything that it holds; tasks that waited for the same process do not
        count. `time-limit`, `memory-limit`: its process was ended. `task-failed`:
        something else than a SimgapError was raised, which the failure tells of. A
        SimgapError is the failure itself.

        An error that `start` raises is raised here. So is KeyboardInterrupt: after one
        Ctrl-C tasks that run are finished first, but none is begun any more (unless the
        crew is not `patient`); after two, at once. Whoever has a handler of interrupts
        of their own keeps it.

        Processes are kept for the next run, unless this one is left before its end.
        """
        if not self._one_run.acquire(blocking=False):
            raise RuntimeError("the crew is running: one run at a time")
        try:
            limits = Limits(self.workers, self.tries, self.seconds, self.memory)
            news = self.news or _ignore
            run = Run(limits, self._members, self._new, news, self.clock)
            yield from run.all(iter(tasks), patient=self.patient)
        except BaseException:
            self.close()
            raise
        finally:
            self._one_run.release()

    def close(self) -> None:
        """End all processes at once."""
        with delayed_interrupts():
            while self._members:
                self._members.pop().end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _new(self) -> Member:
        return Member(self.start, self.environment, self.clock)


def _ignore(news: Any) -> None:
    """Nobody wants to know."""
