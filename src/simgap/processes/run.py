"""Hand tasks to worker processes, and see that each of them ends."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import Any, NamedTuple, final

from simgap.errors import SimgapError
from simgap.interrupts import counted_interrupts, delayed_interrupts
from simgap.processes.inside import Head, TaskFailed, Tell, failure_of
from simgap.processes.member import Held, Member
from simgap.text import number

LOOK = 0.2  # seconds between two looks at limits and interrupts
AHEAD = 0.2  # seconds that a task may run while another one waits behind it
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


class Limits(NamedTuple):
    """How many processes there may be, and what each task may take."""

    workers: int
    tries: int
    seconds: float | None
    memory: float | None


@final
class Run:
    """One run of a crew over its tasks."""

    def __init__(
        self,
        limits: Limits,
        members: list[Member],
        new: Callable[[], Member],
        news: Tell,
        clock: Callable[[], float],
    ) -> None:
        self._limits, self._members, self._new, self._news = limits, members, new, news
        self._clock = clock
        self._waiting: deque[Held] = deque()  # taken, and with no worker
        self._numbers = count()
        self._more = True  # tasks may follow
        self._deaths = 0  # before a start was done, in a row
        self._look = 0.0  # when limits are looked at again

    def all(self, tasks: Iterator[Any], *, patient: bool) -> Iterator[Ended]:
        """Return tasks in the order in which they end."""
        ended: list[Ended] = []
        quiet = int(patient)
        with counted_interrupts(quiet) as interrupts:
            while interrupts() <= quiet:
                if interrupts():
                    self._stop()
                else:
                    self._take(tasks)
                    self._hand_out()
                yield from ended
                busy = any(member.held for member in self._members)
                if not busy and not self._waiting:
                    break
                ended = list(self._listened())
        if interrupts():  # here none gets lost any more: the next one is raised
            raise KeyboardInterrupt

    def _take(self, tasks: Iterator[Any]) -> None:
        """Take as many tasks as may be under way."""
        under_way = len(self._waiting) + sum(len(each.held) for each in self._members)
        while self._more and under_way < self._limits.workers * self._depth:
            try:
                task = next(tasks)
            except StopIteration:
                self._more = False
                return
            sent = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
            self._waiting.append(Held(next(self._numbers), task, sent))
            under_way += 1

    @property
    def _depth(self) -> int:
        """Return how many tasks a worker is sent: a limit of time is for one alone."""
        return 1 if self._limits.seconds is not None else 2

    def _hand_out(self) -> None:
        """Give tasks to workers that have none, then ahead; start workers."""
        ready = [each for each in self._members if each.ready]
        for member in ready:
            if not member.held and self._waiting:
                member.give(self._waiting.popleft())
        starting = len(self._members) - len(ready)
        while (
            starting < len(self._waiting)
            and len(self._members) < self._limits.workers
            and self._deaths < STARTS  # fewer workers until one of them ends a task
        ):
            self._begin_member()
            starting += 1
        latest = self._clock() - AHEAD
        for member in ready:  # those that were given a task just now among them
            if (
                self._waiting
                and len(member.held) < self._depth
                and member.began > latest
                and not (self._waiting[0].large or member.running.large)
            ):
                member.give(self._waiting.popleft())

    def _stop(self) -> None:
        """Begin no task any more."""
        for member in self._members:
            member.take_back()
        self._waiting.clear()

    def _begin_member(self) -> Member:
        resource_tracker.ensure_running()  # starting that would unblock interrupts
        with delayed_interrupts():  # none for the new process, none before it is listed
            self._members.append(self._new())
        return self._members[-1]

    def _listened(self) -> Iterator[Ended]:
        """Wait until something happens; yield what has ended."""
        files = {file: each for each in self._members for file in each.listened}
        ready = wait(files, LOOK)
        for member in dict.fromkeys(files[file] for file in ready):
            message = member.hear() if member.listened[0] in ready else None
            if message is None:
                yield from self._died(member)
            else:
                yield from self._said(member, *message)
        if self._clock() >= self._look:
            for member in tuple(self._members):
                yield from self._looked_at(member)
            self._look = self._clock() + LOOK

    def _said(self, member: Member, head: Head, rest: BytesIO) -> Iterator[Ended]:
        """Read a message."""
        try:
            said = pickle.load(rest)
        except Exception as error:
            said = failure_of(error)
            head = head._replace(kind="failed" if head.number >= 0 else "not started")
        if head.kind == "news":
            self._news(said)
        elif head.kind == "started":
            member.started()
            self._deaths = 0
        elif head.kind == "not started":
            raise said
        else:
            self._deaths = 0
            one = member.ended(head.number)
            failed = head.kind == "failed"
            yield Ended(
                one.task,
                result=None if failed else said,
                failure=said if failed else None,
                tries=one.tries + 1,
                seconds=head.seconds,
                peak=head.peak,
            )

    def _looked_at(self, member: Member) -> Iterator[Ended]:
        """See whether a worker lives, and how its task is doing."""
        if member.hears():
            return  # first things first
        if not member.alive:
            yield from self._died(member)
        elif member.ready and member.held:
            spent = self._clock() - member.began
            if len(member.held) > 1 and spent > AHEAD:  # do not wait for a long one
                self._waiting.extendleft(reversed(member.take_back()))
            if member.held and (failure := self._too_much(member, spent)):
                yield from self._ended_by_limit(member, failure, spent)

    def _too_much(self, member: Member, spent: float) -> SimgapError | None:
        seconds, memory = self._limits.seconds, self._limits.memory
        if seconds is not None and spent > seconds:
            took = f"stopped after {number(spent, 3)} s"
            allowed = f"{number(seconds)} s are allowed"
            return TaskFailed(f"{took}, {allowed}", code="time-limit")
        if memory is not None and (used := member.resident) > memory:
            took = f"used {number(used, 3)} GB of memory"
            allowed = f"{number(memory)} GB are allowed"
            return TaskFailed(f"{took}, {allowed}", code="memory-limit")
        return None

    def _ended_by_limit(
        self, member: Member, failure: SimgapError, spent: float
    ) -> Iterator[Ended]:
        """End a worker whose task takes too much.

        Memory may be what earlier tasks have left there: the task has another try in a
        process of its own.
        """
        blamed = member.running
        yield from self._let_go(member)
        for one in member.held.values():
            if one is not blamed:  # begun in the last moment
                self._waiting.appendleft(one)
            elif failure.code == "memory-limit" and member.used and not one.large:
                self._begin_member().give(one)
            else:
                yield Ended(one.task, None, failure, one.tries + 1, spent)

    def _died(self, member: Member) -> Iterator[Ended]:
        """Run what ran in a dead worker again, or give it up."""
        spent = self._clock() - member.began
        yield from self._let_go(member)
        for one in member.held.values():
            one.tries += 1
            if one.tries < self._limits.tries:
                self._waiting.appendleft(one)
                continue
            often = "" if one.tries == 1 else f" {one.tries} times"
            failure = TaskFailed(
                f"its process died{often}, the last time by {member.how_it_ended}",
                hint="a crash of a library, or no memory left",
                code="process-died",
            )
            yield Ended(one.task, None, failure, one.tries, spent)
        self._deaths = 0 if member.ready else self._deaths + 1
        if self._deaths >= STARTS and not any(each.ready for each in self._members):
            raise self._no_start(member)

    def _no_start(self, member: Member) -> SimgapError:
        """Return what to raise where no process can be started."""
        hint = (
            "a script of your own that starts processes needs the line "
            '`if __name__ == "__main__":` above its commands'
        )
        if member.signalled:
            hint = "somebody ends them, or no memory is left: try fewer workers"
        return TaskFailed(
            f"{self._deaths} worker processes in a row died before they had started, "
            f"the last one by {member.how_it_ended}",
            hint=hint,
            code="process-died",
        )

    def _let_go(self, member: Member) -> Iterator[Ended]:
        """End a worker; it holds what it had begun, and has said what it could."""
        member.kill()
        while member.hears() and (message := member.hear()) is not None:
            yield from self._said(member, *message)
        self._waiting.extendleft(reversed(member.take_back()))
        with delayed_interrupts():
            self._members.remove(member)
            member.end()
