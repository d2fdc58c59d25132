"""Ctrl-C ends what is running: it is noted, raised where that is safe, never lost.

Python raises KeyboardInterrupt wherever the program happens to be. That may be where a
lock was just taken, which then stays taken; under an `except:` of a user's environment;
or in a callback of a C library, which drops it or makes another error of it. So an
interrupt is also noted, and the note is read before a result is kept or believed.
Where a lock is taken interrupts are delayed.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

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
