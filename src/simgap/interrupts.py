"""Ctrl-C ends a run even where the exception that Python raises for it gets lost.

Python raises KeyboardInterrupt wherever the program happens to be. That may be under an
`except:` of a user's environment, or in a callback of a C library, which drops it or
makes another error of it: the run would go on, with an episode that is not what it
seems. So an interrupt is also noted, and the note is read before a result is kept.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if there has been one.

    Interrupts are raised at once as well, as always. Whoever has a handler of their own
    keeps it.
    """
    with counted_interrupts() as count:

        def check() -> None:
            if count():
                raise KeyboardInterrupt

        yield check


@contextmanager
def counted_interrupts(quiet: int = 0) -> Iterator[Callable[[], int]]:
    """Yield a function that says how many interrupts there have been.

    So many as `quiet` says are only counted, those that follow are raised as well.
    Whoever has a handler of their own keeps it.
    """
    count = 0

    def note(number: int, frame: Any) -> None:
        nonlocal count
        count += 1
        if count > quiet:
            signal.default_int_handler(number, frame)

    with _handled_by(note, only_instead_of=signal.default_int_handler):
        yield lambda: count


@contextmanager
def delayed_interrupts() -> Iterator[None]:
    """Raise an interrupt only at the end; processes started meanwhile get none at all.

    What is blocked here is blocked in new processes from their first instruction on. It
    is blocked in one thread only: another one may get the signal, and tell this one.
    """
    came = False

    def note(number: int, frame: Any) -> None:
        nonlocal came
        came = True

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _handled_by(note):
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _handled_by(
    handler: Callable[[int, Any], None], only_instead_of: Any = None
) -> Iterator[None]:
    """Let Python call this at an interrupt; only its main thread can say so."""
    before = signal.getsignal(signal.SIGINT)
    if (
        threading.current_thread() is not threading.main_thread()
        or not callable(before)  # ignored: so it stays
        or only_instead_of not in (None, before)
    ):
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
