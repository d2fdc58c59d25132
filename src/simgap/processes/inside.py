"""What a worker process does: start, run task after task, answer, end with its driver.

Messages are bytes: a pickled head that says what it is, then the pickled rest. To the
driver each goes in a frame, so that what somebody else writes into the pipe is noticed.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from multiprocessing import current_process
from multiprocessing.connection import Connection
from traceback import format_exception
from typing import Any, Final, Literal, NamedTuple

from simgap.errors import SimgapError

Tell = Callable[[Any], None]
Start = Callable[[Tell], Callable[[Any], Any]]

GB: Final = 2.0**30
LOOK = 0.5  # seconds between two looks whether the driver still lives
LONGEST = 1_000  # characters of somebody's message
FRAME = struct.Struct("!8sQ")  # before each message to the driver: MARK, its length
MARK = b"\x00simgap\xff"


class TaskFailed(SimgapError):
    """A task or a start that ended otherwise than with a result or a SimgapError."""


class Head(NamedTuple):
    """What a message is; a result, a failure or news follows."""

    kind: Literal["started", "not started", "news", "done", "failed"]
    seconds: float = 0.0
    peak: float | None = None


def work(start: bytes, driver: Connection, driver_id: int) -> None:
    """Do the work of a worker until there are no more tasks."""
    os.setpgid(0, 0)  # whatever tasks start is ended with this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts all processes
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    current_process().daemon = False  # it may have processes of its own
    sys.stdout = sys.stderr  # what is printed is no answer
    with suppress(OSError):
        os.dup2(2, 1)
    os.register_at_fork(after_in_child=driver.close)
    threading.Thread(target=_end_with, args=(driver_id,), daemon=True).start()
    sender = _Sender(driver)
    try:
        run = pickle.loads(start)(lambda news: sender.send(Head("news"), news))
    except BaseException as error:
        sender.send_failure(Head("not started"), error)
        return
    sender.send(Head("started"), None)
    memory = _Memory()
    while True:
        try:
            task = driver.recv_bytes()
        except (EOFError, OSError):  # there are no more
            return
        memory.reset()
        begin = time.monotonic()
        try:
            result = run(pickle.loads(task))
            seconds = time.monotonic() - begin
            sender.send(Head("done", seconds, memory.peak()), result)
        except BaseException as error:
            seconds = time.monotonic() - begin
            sender.send_failure(Head("failed", seconds, memory.peak()), error)
        result = None  # not kept while it waits


class _Sender:
    """Sends messages, from any thread."""

    def __init__(self, driver: Connection) -> None:
        self._driver, self._lock = driver, threading.Lock()

    def send(self, head: Head, what: Any) -> None:
        """Send a message; nothing is sent of what cannot be pickled."""
        message = BytesIO()
        message.write(bytes(FRAME.size))
        pickle.dump(tuple(head), message, pickle.HIGHEST_PROTOCOL)
        pickle.dump(what, message, pickle.HIGHEST_PROTOCOL)
        left = message.getbuffer()
        FRAME.pack_into(left, 0, MARK, len(left) - FRAME.size)
        try:
            with self._lock:
                while left:
                    left = left[os.write(self._driver.fileno(), left) :]
        except OSError:  # nobody listens
            _end()

    def send_failure(self, head: Head, error: BaseException) -> None:
        """Send an error."""
        failure = failure_of(error)
        try:
            self.send(head, failure)
        except Exception:  # what it carries cannot be sent
            said = SimgapError(failure.problem, hint=failure.hint, code=failure.code)
            self.send(head, said)


def failure_of(error: BaseException) -> SimgapError:
    """Return an error as one of simgap, whose notes hold the traceback."""
    if isinstance(error, SimgapError):
        return error
    try:
        said = str(error)[:LONGEST]
    except Exception:
        said = ""
    failure = TaskFailed(
        f"unexpected {type(error).__name__}: {said or 'no message'}",
        hint="SIMGAP_DEBUG=1 shows the traceback",
        code="task-failed",
    )
    failure.add_note("".join(format_exception(error)))
    return failure


class _Memory:
    """The most memory that this process has held since the last reset."""

    def __init__(self) -> None:
        self._files: tuple[int, int] | None = None
        with suppress(OSError):  # not every kernel can reset it
            self._files = (
                os.open("/proc/self/clear_refs", os.O_WRONLY),
                os.open("/proc/self/status", os.O_RDONLY),
            )
            self.reset()

    def reset(self) -> None:
        if self._files:
            try:
                os.pwrite(self._files[0], b"5", 0)
            except OSError:
                self._files = None

    def peak(self) -> float | None:
        """Return GB, if they are known."""
        if not self._files:
            return None
        found = os.pread(self._files[1], 4_096, 0).partition(b"VmHWM:")[2]
        return int(found.split(maxsplit=1)[0]) * 1_024 / GB


def _end_with(driver: int) -> None:
    """End this process when the one that started it is gone."""
    while os.getppid() == driver:
        time.sleep(LOOK)
    _end()


def _end() -> None:
    """End this process and the programs that its tasks have started."""
    os.killpg(0, signal.SIGKILL)
