"""An interrupt that somebody's code swallows is noticed all the same."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from simgap.interrupts import (
    answer_interrupt,
    delayed_interrupts,
    noticed_interrupts,
)
from simgap.user_files import replacing
from tests.sessions import HANGS


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    """Tests may run under a program that has a handler of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    signal.signal(signal.SIGINT, before)


def interrupt_and_swallow() -> None:
    with suppress(BaseException):
        signal.raise_signal(signal.SIGINT)
        pytest.fail("no interrupt was raised")


def test_what_was_swallowed_is_noticed() -> None:
    with noticed_interrupts() as check:
        check()
        interrupt_and_swallow()
        with pytest.raises(KeyboardInterrupt):
            check()
    with noticed_interrupts() as check:
        check()  # another run is another run


def test_what_is_not_swallowed_is_raised_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), noticed_interrupts():
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it goes on")


def test_a_handler_of_the_user_stays() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    with noticed_interrupts() as check:
        signal.raise_signal(signal.SIGINT)
        check()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert heard == [signal.SIGINT]


def test_threads_of_a_user_may_measure() -> None:
    """Only the main thread of Python has handlers; others need none."""
    seen: list[str] = []

    def work() -> None:
        with noticed_interrupts() as check, delayed_interrupts():
            check()
        seen.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["done"]


def test_a_delayed_interrupt_is_raised_at_the_end() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), delayed_interrupts():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")
    assert done == ["all of it"]


def test_an_interrupt_that_another_thread_gets_is_delayed_as_well() -> None:
    """What is blocked in the main thread may still come by another one."""
    begin, done = threading.Event(), list[str]()

    def send() -> None:
        begin.wait(HANGS)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    other = threading.Thread(target=send)
    other.start()  # before anything is blocked: threads inherit that
    with pytest.raises(KeyboardInterrupt), delayed_interrupts():
        begin.set()
        other.join()
        done.append("all of it")
    assert done == ["all of it"]


def test_delays_within_each_other_raise_at_the_end_of_the_outer_one() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), delayed_interrupts():
        with delayed_interrupts() as check:
            signal.raise_signal(signal.SIGINT)
            check()
        done.append("all of it")
    assert done == ["all of it"]


def test_a_delayed_interrupt_is_raised_earlier_if_somebody_looks() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), delayed_interrupts() as check:
        check()
        signal.raise_signal(signal.SIGINT)
        check()
        done.append("not this")
    assert not done


def test_a_file_is_not_replaced_after_an_interrupt_that_got_lost(
    tmp_path: Path,
) -> None:
    """What was computed after it may be wrong; nothing on disk may look finished."""
    path = tmp_path / "answer"
    path.write_text("old")
    with noticed_interrupts():
        interrupt_and_swallow()
        with pytest.raises(KeyboardInterrupt), replacing(path) as draft:
            draft.write_text("new")
        answer_interrupt()  # somebody did what it asked for
        with replacing(path) as draft:
            draft.write_text("newer")
    assert [each.name for each in tmp_path.iterdir()] == ["answer"]
    assert path.read_text() == "newer"


def test_files_are_written_while_an_interrupt_is_on_its_way(tmp_path: Path) -> None:
    """A study draws its page with what it has."""
    path = tmp_path / "page"

    def interrupted() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            with replacing(path) as draft:
                draft.write_text("half")

    with noticed_interrupts(), pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "half"
