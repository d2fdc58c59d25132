"""Ctrl-C ends what is running: it is noted, raised where that is safe, never lost.

Python raises KeyboardInterrupt wherever the program happens to be. That may be where a
lock was just taken, which then stays taken; under an `except:` of a user's environment;
or in a callback of a C library, which drops it or makes another error of it. So an
interrupt is also noted, and the note is read before a result is kept or believed.
Where a lock is taken interrupts are delayed.

Code of users may do what no Python code can end: hang in a library, or end the process.
So commands and workers that run it are *watched* by the process that started them, and
have a limit of seconds that the system itself holds, as it does with Ctrl-C meanwhile.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from types import FrameType
from typing import Any

WATCHER = "SIMGAP_WATCHER"  # in the environment: which process watches
SECONDS = "SIMGAP_USER_SECONDS"  # that a step of users' code may take
MEMORY = "SIMGAP_USER_MEMORY"  # GB that a process with users' code may hold
LONGEST = 300.0  # seconds, unless the environment says otherwise
SHARE = 0.9  # of the memory that is free, unless the environment says otherwise

Handler = Callable[[int, FrameType | None], Any]

_noted = False  # there was one that nobody has answered
_delaying = False  # the main thread is where nothing may be raised


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if there has been one.

    Interrupts are raised at once as well, as always. Whoever has a handler of their own
    keeps it.
    """
    ours, usual = False, (signal.default_int_handler,)
    try:
        with _handled_by(_note_and_raise, only_instead_of=usual) as ours:
            yield check_interrupt
    finally:
        if ours:
            answer_interrupt()  # it is about this block


def notice_interrupts() -> bool:
    """Do the same for good, for a process that is one command; return whether it does.

    Interrupts that are ignored stay so.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _note_and_raise)
    return ours


def check_interrupt() -> None:
    """Raise an interrupt that was noted and got lost.

    It is not lost where interrupts are delayed, and while it is on its way.
    """
    if (
        _noted
        and not _delaying
        and not isinstance(sys.exception(), KeyboardInterrupt)
        and threading.current_thread() is threading.main_thread()
    ):
        raise KeyboardInterrupt


def answer_interrupt() -> None:
    """Forget an interrupt: what it asked for is done."""
    global _noted  # noqa: PLW0603 (a process has one)
    _noted = False


def watched() -> bool:
    """Return whether the process that started this one sees how it ends."""
    return os.environ.get(WATCHER) == str(os.getppid())


def seconds_of_users() -> float:
    """Return how many seconds a step of users' code may take where it is watched."""
    return _number(SECONDS) or LONGEST


def memory_of_users() -> float:
    """Return how many GB (2^30 bytes) a watched process may hold."""
    if (most := _number(MEMORY)) is not None:
        return most
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(each for each in lines if each.startswith("MemAvailable"))
        return SHARE * float(free.split()[1]) * 1_024 / 2**30
    return inf


def _number(name: str) -> float | None:
    said = os.environ.get(name, "")
    return float(said) if said.replace(".", "", 1).isdecimal() else None


@contextmanager
def time_limit() -> Iterator[None]:
    """Let code of users run for so many seconds; after them this process is ended.

    That is by SIGALRM, and only where somebody watches. An interrupt ends it at once:
    while a library computes, Python would not hear of it.
    """
    if not watched():
        yield
        return
    here = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    usual = here and handler in (signal.default_int_handler, _note_and_raise)
    if usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    around = signal.setitimer(signal.ITIMER_REAL, seconds_of_users())[0]
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, seconds_of_users() if around else 0.0)
        if usual:
            signal.signal(signal.SIGINT, handler)


@contextmanager
def counted_interrupts(quiet: int = 0) -> Iterator[Callable[[], int]]:
    """Yield a function that says how many interrupts there have been.

    So many as `quiet` says are only counted, those that follow are raised as well.
    Whoever has a handler of their own keeps it.
    """
    count, before = 0, signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count > quiet and callable(before):
            before(number, frame)

    usual = (signal.default_int_handler, _note_and_raise)
    with _handled_by(note, only_instead_of=usual):
        yield lambda: count


@contextmanager
def delayed_interrupts() -> Iterator[Callable[[], None]]:
    """Raise an interrupt only at the end; processes started meanwhile get none at all.

    What is yielded raises it earlier, where that is safe. The signal is blocked in this
    thread, and in new processes from their first instruction on; another thread may
    get it, and tell this one.
    """
    global _delaying  # noqa: PLW0603 (a process has one main thread)
    if _delaying and threading.current_thread() is threading.main_thread():
        yield lambda: None  # whoever delays them already raises them
        return
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True

    def check() -> None:
        if came or signal.SIGINT in signal.sigpending():
            raise KeyboardInterrupt

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    handler = signal.getsignal(signal.SIGINT)
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        with _handled_by(note) as us:
            if us:
                _delaying = True
            try:
                yield check
            finally:
                if us:
                    _delaying = False
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if came and callable(handler):
            handler(signal.SIGINT, None)


def _note_and_raise(number: int, frame: FrameType | None) -> None:
    global _noted  # noqa: PLW0603 (a process has one)
    _noted = True
    raise KeyboardInterrupt


@contextmanager
def _handled_by(
    handler: Handler, only_instead_of: tuple[Handler, ...] = ()
) -> Iterator[bool]:
    """Let Python call this at an interrupt, and yield whether it does.

    Only its main thread can say so.
    """
    before = signal.getsignal(signal.SIGINT)
    if (
        threading.current_thread() is not threading.main_thread()
        or not callable(before)  # ignored: so it stays
        or (only_instead_of and before not in only_instead_of)
    ):
        yield False
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield True
    finally:
        try:
            signal.signal(signal.SIGINT, before)
        except KeyboardInterrupt:  # one that came just now is raised first
            signal.signal(signal.SIGINT, before)
            raise
