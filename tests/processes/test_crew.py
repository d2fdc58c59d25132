"""Every task ends once, whatever happens to the process that runs it."""

from __future__ import annotations

import os
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from simgap.errors import InvalidArgument, OutsideClass, SimgapError
from simgap.processes import Crew, Ended
from simgap.processes.inside import FRAME, MARK
from tests.processes.tasks import (
    BEGUN,
    Task,
    crew,
    equal,
    start,
    start_of_one,
    start_that_dies,
    start_that_fails,
)
from tests.sessions import HANGS


def failed(ended: Ended) -> SimgapError:
    assert ended.failure is not None
    return ended.failure


def code(ended: Ended) -> str:
    return "" if ended.failure is None else ended.failure.code


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_thousands_of_small_tasks_end_once_each() -> None:
    with crew() as workers:
        ended = list(workers.run(("square", number) for number in range(3_000)))
    assert sorted(each.task[1] for each in ended) == list(range(3_000))
    assert all(each.result == each.task[1] ** 2 for each in ended)
    assert {(code(each), each.tries) for each in ended} == {("", 1)}
    assert all(each.seconds >= 0.0 for each in ended)


def test_workers_that_are_killed_at_random_moments_cost_nothing() -> None:
    """Results are larger than what a pipe holds: some are cut off in the middle."""
    sizes = range(300_000, 300_200)
    with Crew(start_that_dies, 2, tries=1_000) as workers:
        ended = []
        for each in workers.run(("bytes", size) for size in sizes):
            ended.append(each)
            time.sleep(0.002)
    assert sorted(each.task[1] for each in ended) == list(sizes)
    assert all(len(each.result) == each.task[1] for each in ended)
    assert any(each.tries > 1 for each in ended)


@pytest.mark.parametrize(
    ("how", "told"),
    [("exit", "exit status 3"), ("kill", "SIGKILL"), ("segfault", "SIGSEGV")],
)
def test_a_task_that_kills_its_worker_costs_only_itself(how: str, told: str) -> None:
    tasks: list[Task] = [("square", 2), ("die", how), ("square", 3), ("square", 4)]
    with crew(1, tries=1) as workers:  # those behind it were sent to the same process
        ended = {each.task: each for each in workers.run(tasks)}
    assert len(ended) == len(tasks)
    dead = ended.pop(("die", how))
    assert code(dead) == "process-died"
    assert told in failed(dead).problem
    assert {(each.result, each.tries) for each in ended.values()} == {
        (4, 1),
        (9, 1),
        (16, 1),
    }


def test_a_task_is_run_again_as_often_as_asked(tmp_path: Path) -> None:
    deadly, once = tmp_path / "deadly", tmp_path / "once"
    with crew(tries=3) as workers:
        tasks: list[Task] = [("die and say so", deadly), ("die once", once)]
        ended = {each.task[0]: each for each in workers.run(tasks)}
    assert code(ended["die and say so"]) == "process-died"
    assert ended["die and say so"].tries == 3
    assert len(deadly.read_text().splitlines()) == 3
    assert (ended["die once"].result, ended["die once"].tries) == ("done", 2)


def test_a_task_may_take_so_long_and_no_longer(tmp_path: Path) -> None:
    tasks: list[Task] = [("until", tmp_path / "never"), ("until", tmp_path / "never")]
    with crew(seconds=0.5) as workers:
        ended = list(workers.run(tasks))
    assert [code(each) for each in ended] == ["time-limit"] * 2
    assert " 0.5 s " in failed(ended[0]).problem


def test_a_task_may_take_so_much_memory_and_no_more() -> None:
    tasks: list[Task] = [("take memory", (600, 400)), ("take memory", (20, 400))]
    with crew(memory=0.4) as workers:
        ended = {each.task[1][0]: each for each in workers.run(tasks)}
    large, small = ended[600], ended[20]
    assert code(large) == "memory-limit"
    assert "0.4 GB" in failed(large).problem
    assert small.result[0] == 20 << 20
    if small.peak is not None:  # this kernel can say
        assert 20 / 1024 < small.peak < 0.4


@pytest.mark.parametrize(
    "garbage", [b"\0", b"garbage", b"\x7f\xff\xff\xff", bytes(4096)]
)
def test_a_task_that_writes_into_the_pipe_of_its_worker_costs_only_itself(
    garbage: bytes,
) -> None:
    """Whether it is read as a length or as a message."""
    tasks: list[Task] = [("square", 2), ("scribble", garbage), ("square", 3)]
    with crew(1) as workers:
        ended = {each.task: each for each in workers.run(tasks)}
    assert [code(ended[each]) for each in tasks] == ["", "process-died", ""]
    assert [ended[each].result for each in tasks] == [4, None, 9]
    assert ended["scribble", garbage].tries == 2


def test_a_message_that_does_not_arrive_whole_is_waited_for_within_the_limit() -> None:
    begun = FRAME.pack(MARK, 1 << 62) + b"and so on"
    tasks: list[Task] = [("scribble and wait", begun), ("square", 3)]
    with crew(1, seconds=0.5) as workers:
        ended = {each.task: each for each in workers.run(tasks)}
    assert [code(ended[each]) for each in tasks] == ["time-limit", ""]


def test_memory_that_earlier_tasks_have_left_is_not_held_against_a_task() -> None:
    """The same task fits into a process of its own, and is run in one."""
    tasks: list[Task] = [("keep memory", 300), ("take memory", (200, 400))]
    with crew(1, memory=0.4) as workers:
        kept, taken = workers.run(tasks)
    assert not code(kept)
    assert taken.result[0] == 200 << 20
    assert taken.result[1] != kept.result  # another process
    assert taken.tries == 1


@pytest.mark.parametrize(
    ("how", "wanted", "most"), [("other", "task-failed", 1), ("die", "process-died", 3)]
)
def test_a_start_that_breaks_is_no_endless_story(
    tmp_path: Path, how: str, wanted: str, most: int
) -> None:
    path = tmp_path / "starts"
    with (
        Crew(partial(start_that_fails, path, how), 1) as workers,
        pytest.raises(SimgapError) as error,
    ):
        list(workers.run([("square", 1)]))
    assert error.value.code == wanted
    assert len(path.read_text().splitlines()) == most


def test_one_worker_goes_on_where_no_second_one_can_start(tmp_path: Path) -> None:
    """It is tried again when a task has ended; without the one nothing goes on."""
    path = tmp_path / "starts"
    last = tmp_path / "death-3"
    with Crew(partial(start_of_one, path), 2) as workers:
        ended = list(workers.run([("until", last), ("square", 2), ("until", last)]))
        assert sorted(str(each.result) for each in ended) == ["4", "death-3", "death-3"]
        with pytest.raises(SimgapError) as caught:
            list(workers.run([("die", "kill"), ("square", 1)]))
    assert caught.value.code == "process-died"
    assert "SIGKILL" in caught.value.problem
    assert "memory" in caught.value.hint


def test_twenty_megabytes_go_and_come() -> None:
    size = 20_000_000
    tasks: list[Task] = [("bytes", size + n) for n in range(4)]
    tasks += [("length", b"y" * (size + n)) for n in range(4)]
    tasks += [("length", b"y" * (16_384 + n)) for n in range(-60, 10)]
    with crew() as workers:
        ended = list(workers.run(tasks))
    assert not any(code(each) for each in ended)
    for (what, about), result in ((each.task, each.result) for each in ended):
        same = about if what == "bytes" else len(about)
        assert (len(result) if what == "bytes" else result) == same
    assert len(ended) == len(tasks)


def test_an_error_arrives_as_it_was() -> None:
    how = ("simgap", "carries", "unpicklable", "value", "exit", "unreadable", "result")
    with crew() as workers:
        ended = workers.run([("fail", each) for each in how])
        found = {each.task[1]: failed(each) for each in ended}
    wrong = InvalidArgument("wrong\nin two lines", hint="do better", code="a-code")
    assert equal(found["simgap"], wrong)
    surprise = OutsideClass("surprise", hint="look", step=("state", 3))
    assert equal(found["carries"], surprise)
    assert found["unpicklable"].code == surprise.code
    assert str(found["unpicklable"]) == str(surprise)
    for each in ("value", "exit", "unreadable", "result"):
        assert found[each].code == "task-failed"
    assert "ValueError: three is no good" in found["value"].problem
    assert "tasks.py" in found["value"].__notes__[0]
    assert "SystemExit: 5" in found["exit"].problem
    assert "it cannot be read" in found["unreadable"].problem


def test_news_come_in_order_and_before_the_result() -> None:
    heard: list[tuple[int, int]] = []
    counts = [7, 30, 1, 500, 12]
    with crew(news=heard.append) as workers:
        for each in workers.run([("report", count) for count in counts]):
            mine = [at for count, at in heard if count == each.result]
            assert mine == list(range(each.result))
    assert len(heard) == sum(counts)


def test_what_a_worker_prints_goes_to_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with crew(1) as workers:
        list(workers.run([("print", "hello")]))
    written = capfd.readouterr()
    assert written.out == ""
    assert "hello\n" in written.err
    assert "hello again\n" in written.err


def test_a_worker_has_its_environment_before_it_imports_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SIMGAP_TEST_OLD", "old")
    given = {"SIMGAP_TEST_OLD": "new", "SIMGAP_TEST_NEW": "new"}
    before = dict(os.environ)
    with crew(1, environment=given) as workers:
        found = [each.result for each in workers.run(("environment", n) for n in given)]
    assert found == [("new", "new"), ("new", "new")]
    assert dict(os.environ) == before


def test_a_task_may_have_processes_of_its_own() -> None:
    with crew(1) as workers:
        (ended,) = workers.run([("child", None)])
    assert ended.result == 7


def test_programs_of_a_task_end_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "program"
    with crew(1, tries=1) as workers:
        (ended,) = workers.run([("program", (path, "dies"))])
    assert code(ended) == "process-died"
    until = time.monotonic() + HANGS
    while Path(f"/proc/{path.read_text()}").exists():
        assert time.monotonic() < until, "the program goes on"
        time.sleep(0.05)


def test_workers_stay_between_runs_and_end_with_the_crew() -> None:
    with crew(1) as workers:
        first = [each.result for each in workers.run([("process", 1)] * 3)]
        again = [each.result for each in workers.run([("process", 1)] * 3)]
        assert len({*first, *again}) == 1
        assert runs(first[0])
    assert not runs(first[0])
    assert [each.result for each in workers.run([("square", 3)])] == [9]
    workers.close()


def test_a_run_that_is_left_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    with crew() as workers:
        tasks = [("process", None), *(("until", tmp_path / f"{n}") for n in range(9))]
        pids = []
        for each in workers.run(tasks):
            pids.append(each.result)
            break
        assert not any(runs(pid) for pid in pids)
        ended = list(workers.run([("square", 3), ("square", 4)]))
    assert Counter(each.result for each in ended) == Counter([9, 16])
    begun = tmp_path / BEGUN
    assert not begun.exists() or len(begun.read_text().splitlines()) <= 2


@pytest.mark.parametrize("wrong", [{"seconds": 0.0}, {"memory": -1.0}, {"tries": 0}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        Crew(start, 1, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        Crew(start, 0)
