from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simgap.errors import InvalidFile
from simgap.ledger import (
    LEDGER,
    driver_of,
    forget_ledger,
    has_ledger,
    key_of,
    only_driver,
    opened_ledger,
    read_ledger,
)

WRITER = """
import sys
from pathlib import Path
from simgap.ledger import opened_ledger
with opened_ledger(Path(sys.argv[1]), "work") as ledger:
    start = len(ledger.statuses())
    for at in range(start, 100000):
        ledger.keep(f"cell-{at}", b"x" * (at % 700))
        print(at, flush=True)
"""


def filled(folder: Path, rows: int = 40) -> Path:
    folder.mkdir(exist_ok=True)
    with opened_ledger(folder, "work", {"what": "test"}) as ledger:
        for at in range(rows):
            ledger.keep(f"cell-{at}", bytes(range(at % 256)) * 9)
    return folder


def killed(folder: Path, rows: int) -> int:
    """Fill a ledger, kill its driver, return how many rows were acknowledged."""
    folder.mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        last = -1
        for line in driver.stdout:
            last = int(line)
            if last >= rows:
                driver.send_signal(signal.SIGKILL)
                break
        last = max([last, *map(int, driver.stdout.read().split())])
    return last + 1


def codes_of(act: Callable[[], object]) -> str:
    with pytest.raises(InvalidFile) as error:
        act()
    return error.value.code


def reopened(folder: Path) -> list[str]:
    with opened_ledger(folder, "work") as ledger:
        return [each.key for each in ledger.latest()]


def test_the_latest_row_of_a_key_counts(tmp_path: Path) -> None:
    with opened_ledger(tmp_path, "work") as ledger:
        ledger.keep("a", b"1", "failed")
        ledger.keep("b", b"2")
        ledger.keep("a", b"3")
        assert ledger.done("a") == b"3"
        ledger.keep("b", b"", "forgotten")
        assert ledger.done("b") is None
        assert ledger.statuses() == {"a": "done", "b": "forgotten"}
    with read_ledger(tmp_path, "work") as ledger:
        assert [tuple(each) for each in ledger.latest()] == [
            ("a", b"3", "done"),
            ("b", b"", "forgotten"),
        ]


def test_parts_do_not_see_each_other_and_share_one_file(tmp_path: Path) -> None:
    with opened_ledger(tmp_path, "study", {"x": "1"}) as outer:
        outer.keep("k", b"outer")
        with opened_ledger(tmp_path, "study-of-width", {"x": "2"}) as inner:
            assert inner.find("k") is None
            inner.keep("k", b"inner")
        assert outer.done("k") == b"outer"
        assert list(outer.statuses()) == ["k"]
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["driver.lock", LEDGER]


def test_a_folder_of_other_work_is_refused_with_what_differs(tmp_path: Path) -> None:
    with opened_ledger(tmp_path, "measurement", {"seed": "1", "steps": "5"}):
        pass

    def act() -> None:
        with opened_ledger(tmp_path, "measurement", {"seed": "2", "steps": "5"}):
            pass

    assert codes_of(act) == "another-measurement"


def test_one_driver_at_a_time_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        found = driver_of(folder)
        assert found is not None
        assert found.process == driver.pid
        assert codes_of(lambda: reopened(folder)) == "folder-in-use"
        with read_ledger(folder, "work") as ledger:  # looking is allowed meanwhile
            assert any(ledger.statuses())
        driver.kill()
    assert driver_of(folder) is None
    assert (folder / "driver.lock").read_bytes()  # left behind, and no lock
    assert len(reopened(folder)) >= 1


def test_rows_that_were_acknowledged_survive_kills(tmp_path: Path) -> None:
    folder, rows = tmp_path / "run", 0
    for each in range(6):
        acknowledged = killed(folder, rows + 7 * each)
        with opened_ledger(folder, "work") as ledger:
            found = list(ledger.statuses())
            assert all(
                ledger.done(f"cell-{at}") == b"x" * (at % 700)
                for at in range(acknowledged)
            )
        rows = len(found)
        assert rows >= acknowledged


@pytest.mark.parametrize("part", [0, 100, 5_000, 9_000])
def test_a_ledger_that_is_cut_off_or_another_file_is_refused(
    tmp_path: Path, part: int
) -> None:
    folder = filled(tmp_path / "run")
    path = folder / LEDGER
    right = path.read_bytes()
    for wrong in (right[:part], right[:part] + b"no ledger" * 900):
        if wrong:
            path.write_bytes(wrong)
            assert codes_of(lambda: reopened(folder)) == "damaged-ledger"
            with pytest.raises(InvalidFile) as error, read_ledger(folder, "work"):
                pass
            assert error.value.code == "damaged-ledger"
    path.write_bytes(right)  # the control: the same bytes again are fine
    assert len(reopened(folder)) == 40


def test_a_folder_without_a_ledger_has_none(tmp_path: Path) -> None:
    assert not has_ledger(tmp_path)
    filled(tmp_path)
    assert has_ledger(tmp_path)
    forget_ledger(tmp_path)
    assert not has_ledger(tmp_path)


def test_a_ledger_that_is_only_asked_is_not_written(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    before = (folder / LEDGER).stat().st_mtime_ns
    with opened_ledger(folder, "work", {"what": "test"}) as ledger:
        assert ledger.done("cell-7") is not None
        with read_ledger(folder, "work") as other:
            assert other.done("cell-7") is not None
    assert (folder / LEDGER).stat().st_mtime_ns == before
    with opened_ledger(folder, "work") as ledger:
        ledger.keep("more", b"1")
    assert "more" in reopened(folder)


def test_a_write_that_fails_loses_nothing_and_is_told(tmp_path: Path) -> None:
    """The size of files is limited at every place where the ledger grows."""
    script = """
import resource, signal, sys
from pathlib import Path
from simgap.errors import InvalidFile
from simgap.ledger import opened_ledger
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder, most = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    with opened_ledger(folder, "work") as ledger:
        for at in range(12):
            ledger.keep(f"cell-{at}", b"y" * 900)
            print(at, flush=True)
except InvalidFile as error:
    print(error.code)
"""
    limits = [*range(0, 400_000, 20_000)]
    ended = set()
    for most in limits:
        folder = tmp_path / f"{most}"
        folder.mkdir()
        said = subprocess.run(
            [sys.executable, "-c", script, str(folder), str(most)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.split()
        ended.add(said[-1])
        rows = sum(each.isdecimal() for each in said)
        assert len(reopened(folder)) >= rows
    assert ended <= {"11", "failed-write", "disk-full"}
    assert {"11", "failed-write"} <= ended


def test_nothing_is_written_in_a_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = tmp_path / "none" / "such"
    assert codes_of(lambda: reopened(folder)) == "unwritable-folder"


def test_a_key_is_made_of_all_parts_in_any_order() -> None:
    assert key_of({"a": 1, "b": [2.5]}) == key_of({"b": [2.5], "a": 1})
    assert len({key_of({"a": each}) for each in (1, 1.5, "1", [1], True)}) == 5
    with pytest.raises(ValueError, match="JSON"):
        key_of({"a": float("nan")})


def test_a_process_may_hold_a_folder_twice(tmp_path: Path) -> None:
    with only_driver(tmp_path), only_driver(tmp_path):
        assert driver_of(tmp_path) is not None
    assert driver_of(tmp_path) is None
