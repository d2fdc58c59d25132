"""An interrupt that somebody's code swallows is noticed all the same."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import NullCache

from simgap._kernels import compile_news
from simgap._kernels.compiled import kernel
from simgap.continuous.measuring.campaign import Entry, measured
from simgap.continuous.measuring.workers import Crew, Finished
from simgap.interrupts import (
    answer_interrupt,
    check_interrupt,
    counted_interrupts,
    delayed_interrupts,
    noticed_interrupts,
)
from simgap.ledger import read_ledger
from simgap.simulation.runs import _in_threads
from simgap.user_files import replacing
from tests.continuous.measuring.line import LineRecipe
from tests.sessions import HANGS

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
        begin.wait(HANGS)
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


def test_an_interrupt_that_comes_as_a_handler_goes_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`signal.signal` raises it instead of putting the old handler back."""
    put, calls = signal.signal, 0

    def interrupted_once(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:  # the first puts ours, the second the old one back
            signal.raise_signal(signal.SIGINT)
        return put(*given)

    monkeypatch.setattr(signal, "signal", interrupted_once)
    with pytest.raises(KeyboardInterrupt), noticed_interrupts():
        pass
    check_interrupt()  # and is not raised again


def test_a_kernel_is_compiled_whole() -> None:
    """Inside the compiler an interrupt would leave its lock taken, or get lost."""

    @kernel
    def doubled(x: float) -> float:
        return 2.0 * x

    doubled._cache = NullCache()  # type: ignore[attr-defined]  # it is not kept
    compiler: Any = doubled._compiler  # type: ignore[attr-defined]
    compile_it = compiler.compile

    def interrupted(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        assert compile_news.compiling == {threading.get_ident()}
        return compile_it(*given)

    compiler.compile = interrupted
    with pytest.raises(KeyboardInterrupt):
        doubled(1.0)
    assert doubled.signatures and not compile_news.compiling  # type: ignore[attr-defined]
    assert doubled(1.0) == 2.0


def test_threads_are_not_left_behind_by_an_interrupt() -> None:
    """It is raised between two tasks, and the others are cancelled."""
    began: list[int] = []

    def work(place: int, part: slice) -> int:
        began.append(place)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(0.01)
        return 1

    tasks = [(place, slice(0, 1)) for place in range(30_000)]  # minutes
    with pytest.raises(KeyboardInterrupt):
        _in_threads(work, tasks, 2, lambda _: None)
    assert 1 <= len(began) < len(tasks)
    assert threading.active_count() == 1


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
