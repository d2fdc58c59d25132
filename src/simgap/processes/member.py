"""One worker process, as its driver sees it.

A task that is sent while another one runs there can be taken back as long as the worker
has not begun it: both ends of its socket are held here as well, and whoever reads a
message first has it, whole.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from socket import AF_UNIX, MSG_DONTWAIT, SOCK_SEQPACKET, socketpair
from typing import Any, final

from simgap.processes.inside import GB, NUMBER, PACKET, Head, Start, work

PAGE = os.sysconf("SC_PAGE_SIZE")


@final
@dataclass(slots=True, eq=False)
class Held:
    """A task that has been taken and has not ended."""

    number: int
    task: Any
    sent: bytes  # the same in every try
    tries: int = 0  # that came to an end

    @property
    def large(self) -> bool:
        """Return whether it is sent in pieces, only to a worker that waits for it."""
        return len(self.sent) > PACKET


@final
class Member:
    """A worker process and the tasks that it was sent."""

    def __init__(
        self, start: Start, environment: Mapping[str, str], clock: Callable[[], float]
    ) -> None:
        context = get_context("spawn")
        begin = pickle.dumps(start)
        self._answers, answers = context.Pipe()
        self._tasks, self._read = socketpair(AF_UNIX, SOCK_SEQPACKET)
        self._process = context.Process(
            target=work,
            args=(begin, self._read, answers, os.getpid()),
            daemon=True,  # it is ended when this process forgets to
        )
        self.held: dict[int, Held] = {}  # the first one runs, others wait
        self.ready, self.used = False, False  # used: it has run a task
        self._clock, self.began = clock, clock()  # the first one
        self.how_it_ended, self.signalled = "", False
        with answers, _changed(environment):
            self._process.start()

    @property
    def listened(self) -> tuple[Any, int]:
        """Return what there is to wait for: its answers, and its end."""
        return self._answers, self._process.sentinel

    @property
    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._process.is_alive()

    @property
    def running(self) -> Held:
        """Return the task that runs there."""
        return next(iter(self.held.values()))

    @property
    def resident(self) -> float:
        """Return the memory that it holds now, in GB."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):  # it has just ended
            return 0.0
        return int(pages) * PAGE / GB

    def give(self, one: Held) -> None:
        """Send a task."""
        if not self.held:
            self.began = self._clock()
        self.held[one.number] = one
        number = one.number.to_bytes(NUMBER, "little")
        with suppress(OSError):  # it has just died: seen when it is listened to
            self._tasks.send(number + (b"" if one.large else one.sent))
            if one.large:
                self._answers.send_bytes(one.sent)

    def take_back(self) -> list[Held]:
        """Return the tasks that it has not begun, nor will."""
        back: list[Held] = []
        with suppress(BlockingIOError):
            while True:
                packet = self._read.recv(NUMBER + PACKET, MSG_DONTWAIT)
                back.append(self.held.pop(int.from_bytes(packet[:NUMBER], "little")))
        return back

    def hears(self) -> bool:
        """Return whether there is something to hear."""
        try:
            return self._answers.poll()
        except OSError:
            return False

    def hear(self) -> tuple[Head, BytesIO] | None:
        """Return the head of the next message, and the rest; None: there is no more."""
        try:
            message = BytesIO(self._answers.recv_bytes())
        except (EOFError, OSError):
            return None
        return Head(*pickle.load(message)), message

    def started(self) -> None:
        """Note that it is ready for tasks, and begins one if it was given one."""
        self.ready, self.began = True, self._clock()

    def ended(self, number: int) -> Held:
        """Return a task that has ended there; the next one runs now."""
        self.began, self.used = self._clock(), True
        return self.held.pop(number)

    def kill(self) -> None:
        """End the process at once, and the programs that its tasks have started."""
        self._process.kill()
        with suppress(ProcessLookupError):  # it had not begun, or nothing is left
            assert self._process.pid  # 0 would be the group of this process
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()
        status = self._process.exitcode or 0
        self.signalled = status < 0
        self.how_it_ended = f"exit status {status}"
        if self.signalled:
            names = {int(each): each.name for each in signal.Signals}
            self.how_it_ended = f"signal {names.get(-status, -status)}"

    def end(self) -> None:
        """End the process and let go of all that belongs to it."""
        self.kill()
        with suppress(ValueError):  # somebody else waited for it
            self._process.close()
        for each in (self._answers, self._tasks, self._read):
            each.close()


_environment = threading.Lock()


@contextmanager
def _changed(environment: Mapping[str, str]) -> Iterator[None]:
    """Change the environment: a new process has it before anything is imported."""
    with _environment:
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        try:
            yield
        finally:
            for name, value in before.items():
                del os.environ[name]
                if value is not None:
                    os.environ[name] = value
