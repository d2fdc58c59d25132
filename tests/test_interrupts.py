"""An interrupt that somebody's code swallows is noticed all the same."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from simgap.continuous.measuring.campaign import Entry, measured
from simgap.continuous.measuring.workers import Crew, Finished
from simgap.interrupts import (
    counted_interrupts,
    delayed_interrupts,
    noticed_interrupts,
)
from simgap.ledger import read_ledger
from tests.continuous.measuring.line import LineRecipe

ENTRIES = (Entry("half"), Entry("whole"))


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
        begin.wait(60.0)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    other = threading.Thread(target=send)
    other.start()  # before anything is blocked: threads inherit that
    with pytest.raises(KeyboardInterrupt), delayed_interrupts():
        begin.set()
        other.join()
        done.append("all of it")
    assert done == ["all of it"]


def test_the_first_ones_may_be_counted_only() -> None:
    with counted_interrupts(quiet=1) as count:
        signal.raise_signal(signal.SIGINT)
        assert count() == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert count() == 2
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_job_in_which_an_interrupt_was_swallowed_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third job swallows one; two are kept, and the run ends."""
    run, jobs = Crew.run, 0

    def swallowing(crew: Crew, left: object) -> Iterator[Finished]:
        nonlocal jobs
        for each in run(crew, left):  # type: ignore[arg-type]
            jobs += 1
            if jobs == 3:
                interrupt_and_swallow()
            yield each

    monkeypatch.setattr(Crew, "run", swallowing)
    with pytest.raises(KeyboardInterrupt):
        measured(LineRecipe()(), ENTRIES, episodes=20, folder=tmp_path)
    assert jobs == 3
    with read_ledger(tmp_path, "measurement") as ledger:
        assert len(list(ledger.latest())) == 2
