"""One worker process, as its driver sees it."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any, final

from simgap.processes.inside import FRAME, GB, MARK, Head, Start, work

PAGE = os.sysconf("SC_PAGE_SIZE")
PIECE = 1 << 20  # bytes read at once


@final
@dataclass(slots=True, eq=False)
class Running:
    """A task that has been taken and has not ended."""

    task: Any
    sent: bytes  # the same in every try
    tries: int = 0  # that came to an end


@final
class Worker:
    """A worker process, and the task that it has."""

    def __init__(self, start: Start, environment: Mapping[str, str]) -> None:
        context = get_context("spawn")
        begin = pickle.dumps(start)
        self._pipe, pipe = context.Pipe()
        self._process = context.Process(
            target=work,
            args=(begin, pipe, os.getpid()),
            daemon=True,  # it is ended when this process forgets to
        )
        self.running: Running | None = None  # sent when it is ready
        self.ready, self.used = False, False  # used: it has run a task
        self.began = monotonic()  # the task, or the process
        self.how_it_ended, self.signalled = "", False
        self._written = bytearray()  # and not yet a whole message
        self.spoiled = False  # something is in its pipe that is no message
        with pipe, _changed(environment):
            self._process.start()

    @property
    def listened(self) -> tuple[Any, int]:
        """Return what there is to wait for: its messages, and its end."""
        return self._pipe, self._process.sentinel

    @property
    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._process.is_alive()

    @property
    def resident(self) -> float:
        """Return the memory that it holds now, in GB."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):  # it has just ended
            return 0.0
        return int(pages) * PAGE / GB

    def give(self, task: Running) -> None:
        """Send a task, as soon as it is ready for one."""
        self.running, self.began = task, monotonic()
        if self.ready:
            with suppress(OSError):  # it has just died: seen when it is listened to
                self._pipe.send_bytes(task.sent)

    def started(self) -> None:
        """Note that it is ready, and send the task that waits for it."""
        self.ready = True
        if self.running is not None:
            self.give(self.running)

    def ended(self) -> Running:
        """Return the task that has ended."""
        task, self.running, self.used = self.running, None, True
        assert task is not None
        return task

    def has_written(self) -> bool:
        """Return whether there is something to read."""
        try:
            return self._pipe.poll()
        except OSError:
            return False

    def read(self) -> bool:
        """Take some of what it has written; False: there will be no more.

        It waits for nothing but the first byte: a message may arrive in parts.
        """
        try:
            piece = os.read(self._pipe.fileno(), PIECE)
        except OSError:
            return False
        self._written += piece
        return bool(piece)

    def messages(self) -> Iterator[tuple[Head, BytesIO]]:
        """Yield the head and the rest of each message that has arrived whole.

        What is no message spoils all that comes after it: code of a task wrote it.
        """
        while self._written:
            if not MARK.startswith(self._written[: len(MARK)]):
                self.spoiled = True
                return
            if len(self._written) < FRAME.size:
                return
            end = FRAME.size + FRAME.unpack_from(self._written)[1]
            if len(self._written) < end:
                return
            message = BytesIO(self._written[FRAME.size : end])
            del self._written[:end]
            try:
                head = Head(*pickle.load(message))
            except Exception:  # somebody wrote into the middle of it
                self.spoiled = True
                return
            yield head, message

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
        if self.spoiled:
            self.how_it_ended = "what its task wrote into descriptors that were open"
            self.signalled = False

    def end(self) -> None:
        """End the process and let go of all that belongs to it."""
        self.kill()
        with suppress(ValueError):  # somebody else waited for it
            self._process.close()
        self._pipe.close()


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
