"""What a command does to its own process: streams that hold, and Ctrl-C that ends it.

Python runs a handler of signals between two steps of its main thread. There may be none
for minutes (a kernel) or for ever (a lock), so a second thread hears of interrupts too:
the second one ends the process at once, and so does the first while kernels are
compiled, where nothing can be raised. What is on disk is whole at every moment.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from contextlib import suppress
from select import select
from time import perf_counter
from typing import Any

from simgap._kernels import compile_news
from simgap.errors import InvalidFile
from simgap.interrupts import notice_interrupts

INTERRUPTED = 130
STOPPED = "\nstopped: interrupted\n"
SHOW_CURSOR = "\x1b[?25h"  # a line of progress hides it


def begin_process() -> None:
    """Make this process one that ends in order whatever happens around it."""
    compile_news.command_began = perf_counter()
    _mend_streams()
    if notice_interrupts():
        heard, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=_hear_nothing)
        threading.Thread(target=_listen, args=(heard,), daemon=True).start()
        sys.unraisablehook = _unraised


def end_process() -> None:
    """Let an interrupt end what is left of this process, without a word."""
    for _ in range(2):  # one that came just now is raised by the first
        with suppress(KeyboardInterrupt):
            if callable(signal.getsignal(signal.SIGINT)):
                signal.signal(signal.SIGINT, signal.SIG_DFL)


def _unraised(what: sys.UnraisableHookArgs) -> None:
    """Tell of an error where nothing can be raised; an interrupt there is noted."""
    if not issubclass(what.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(what)


class _Messages(io.FileIO):
    """Standard error: written as far as it goes, on a full disk or with no reader."""

    def write(self, content: Any) -> int:
        with suppress(OSError):
            super().write(content)
        return memoryview(content).nbytes


class _Answer(io.FileIO):
    """Standard output: what it does not take is an error of its own, told once."""

    failed = False

    def write(self, content: Any) -> int:
        written = None
        while not self.failed and written is None:
            try:
                written = super().write(content)
                if written is None:  # a terminal that does not block
                    select([], [self], [])
            except BrokenPipeError:
                raise
            except OSError as error:
                self.failed = True
                raise InvalidFile(
                    f"cannot write to standard output: {error.strerror or error}",
                    hint="make room there, or send it elsewhere: > answer.txt",
                    code="no-output",
                ) from error
        return memoryview(content).nbytes if written is None else written


def _mend_streams() -> None:
    """Open what is closed, so that no other file is taken for it; wrap the others.

    Messages are not the answer: where they cannot be written, they are left out. The
    answer has a descriptor of its own: what libraries write to the usual one, number 1,
    is a message.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free
    if sys.stdout is not None:
        sys.stdout = _text(sys.stdout, _Answer(os.dup(1), "wb", closefd=False))
        os.dup2(2, 1)
    sys.stderr = _text(sys.stderr, _Messages(2, "wb", closefd=False))


def _text(stream: Any, raw: io.FileIO) -> io.TextIOWrapper:
    """Return a stream that is written like another one, to a file of ours."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(stream, "encoding", None),
        errors="replace",
        line_buffering=raw.fileno() == 2 or raw.isatty() or stream.write_through,
    )


def _listen(heard: int) -> None:
    """End the process at the second interrupt, or at the first while it compiles."""
    before = False
    while True:
        if signal.SIGINT in os.read(heard, 1):
            if before or compile_news.compiling:
                watched = SHOW_CURSOR if sys.stderr.isatty() else ""
                with suppress(OSError):
                    os.write(2, f"{watched}{STOPPED}".encode())
                os._exit(INTERRUPTED)
            before = True


def _hear_nothing() -> None:
    """Leave the pipe to the process that reads it: a child has its own interrupts."""
    with suppress(ValueError):
        signal.set_wakeup_fd(-1)
