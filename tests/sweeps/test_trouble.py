"""Interrupts, two drivers, limits, disks, clocks and strange names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from simgap.cli.app.main import main
from simgap.errors import InvalidFile, SimgapError
from simgap.sweeps.engine import LocalEngine
from simgap.sweeps.plan import Cell
from simgap.sweeps.state import export_table, status
from simgap.sweeps.sweep import resume, sweep
from tests.sessions import (
    HANGS,
    all_gone,
    interrupt,
    killed_if_it_fails,
    wait_until,
)
from tests.sweeps.noted import Noted
from tests.sweeps.small import RIVERS, Here, changed, swept, table


def test_interrupts_and_a_second_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One Ctrl-C ends the cells that run, two stop at once; both can be resumed."""
    noted = Noted(tmp_path / "run", 12)
    noted.hold(1)
    process = noted.start(workers=2)
    with killed_if_it_fails(process.pid):
        wait_until(lambda: len(noted.calls()) == 2)
        monkeypatch.chdir(noted.place)
        assert main(["sweep", "plan.toml", "--out", "run"]) == 2
        said = capsys.readouterr().err
        assert f"process {process.pid}" in said
        found = status("run")
        assert found.driver is not None
        assert str(process.pid) in found.driver
        assert found.running == 2
        interrupt(process.pid, session=True)
        noted.release()
        said = process.communicate(timeout=HANGS)[1]
        assert process.returncode == 130
        assert "simgap resume run goes on" in said
        all_gone(process.pid)
    calls, kept = Counter(noted.calls()), noted.kept()
    assert len(kept.done) == 2
    assert set(calls) == kept.done  # what had begun was finished, and nothing else
    assert len(set(calls.values())) == 1
    assert (status("run").running, status("run").driver) == (0, None)
    states = [each["state"] for each in table(noted.run)]
    assert states.count("done") == len(kept.done)

    noted.hold(1)
    process = noted.start("resume", "run", "--workers", "1")
    with killed_if_it_fails(process.pid):
        wait_until(lambda: len(noted.calls()) > sum(calls.values()))
        for _ in range(2):
            interrupt(process.pid, session=True)
        process.communicate(timeout=HANGS)
        assert process.returncode == 130
        all_gone(process.pid)
    assert kept.done == noted.kept().done
    noted.release()
    noted.finish("resume", "run", "--workers", "1")
    assert noted.kept().done == frozenset(range(12))
    again = Counter(noted.calls())
    assert all(again[each] == calls[each] for each in kept.done)


@pytest.mark.parametrize(
    ("policies", "limit", "ends"),
    [
        (["sleep"], "seconds = 2", ["time-limit"]),
        (["eat", "act"], "memory = 1.5", ["memory-limit"]),
    ],
)
def test_a_cell_that_takes_too_much_fails_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    policies: list[str],
    limit: str,
    ends: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        """
import time
from multiprocessing import parent_process


def act(observation, memory):
    return 0, None


def sleep(observation, memory):
    if parent_process() is not None:  # a driver only looks at it
        time.sleep(600)
    return 0, None


def eat(observation, memory):
    global eaten
    if parent_process() is not None:
        eaten = b"x" * (2 * 10**9)
        time.sleep(600)
    return 0, None
"""
    )
    (tmp_path / "plan.toml").write_text(
        f"""question = "gap"
[axes]
model = "riverswim?states=3&success=0.3,0.6"
horizon = 1
policy = {[f"mine.py:{each}" for each in policies]}
[settings]
runs = 2
[limits]
{limit}
"""
    )
    found = sweep("plan.toml", out="run", engine=LocalEngine(1))
    assert (found.done, found.failed) == (len(policies) - 1, 1)
    assert [each.code for each in found.failures] == ends


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", place],
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        pytest.skip("only root can make a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", place], check=True)


def test_a_full_disk_and_one_that_is_read_only_lose_nothing(
    tmp_path: Path, disk: Path
) -> None:
    text = changed(RIVERS, ("seeds = 2", "seeds = 20"))
    folder, engine = disk / "run", Here()

    def written(cell: Cell) -> None:
        """Wait until all rows so far are written, if there is room for them."""
        ran = len(slowly.ran)
        if os.statvfs(disk).f_bavail > 4:
            wait_until(lambda: status(folder).done == ran)

    slowly = Here(written)
    swept(tmp_path / "whole", text)
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    with pytest.raises(InvalidFile) as error:
        sweep(plan, out=folder, engine=slowly)
    assert error.value.code == "disk-full"
    kept = status(folder).done
    assert kept > 0
    remount(disk, "ro")
    assert status(folder).done == kept
    assert export_table(folder, tmp_path / "t.csv").bytes
    with pytest.raises(InvalidFile) as error:
        resume(folder, engine=engine)
    assert error.value.code == "unwritable-folder"
    with pytest.raises(InvalidFile) as error:
        sweep(plan, out=disk / "other", engine=engine)
    assert error.value.code == "unwritable-folder"
    remount(disk, "rw,size=4m")
    found = resume(folder, engine=engine)
    assert (found.done, found.reused) == (160, kept)
    assert len(engine.ran) == 160 - kept
    right = (tmp_path / "whole" / "table.csv").read_bytes()
    assert (folder / "table.csv").read_bytes() == right


@pytest.mark.parametrize(
    "name",
    ["a folder with spaces", "ein schöner Lauf 走 🏃", "-o", "%20&#?x=1", "n" * 250],
)
def test_a_folder_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / name
    text = changed(RIVERS, ("[3, 4]", "[3]"), ("[2, 3]", "2"))
    assert swept(folder, text).done == 4
    assert resume(folder, engine=Here()).reused == 4
    assert status(folder).done == 4


def test_parquet_holds_the_same_as_csv(tmp_path: Path) -> None:
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason="pyarrow is in the extra interop"
    )
    text = """question = "oracle"
[axes]
model = "absorbing_doors?members={n}"
n = [2, 3]
horizon = [4, 8]
gap_tolerance = [0.1, 0.2]
baselines = [true, false]
"""
    swept(tmp_path / "run", text)
    told = export_table(tmp_path / "run", tmp_path / "t.parquet")
    assert told.bytes == (tmp_path / "t.parquet").stat().st_size
    again = export_table(tmp_path / "run", tmp_path / "t2.parquet")
    assert told.hash == again.hash
    found = parquet.read_table(tmp_path / "t.parquet")
    kinds = {each.name: str(each.type) for each in found.schema}
    assert (kinds["n"], kinds["gap_tolerance"], kinds["baselines"]) == (
        "int64",
        "double",
        "bool",
    )
    assert (kinds["outcome"], kinds["value_upper"]) == ("string", "double")
    rows = table(tmp_path / "run")
    assert found.column_names == list(rows[0])
    for row, line in zip(found.to_pylist(), rows, strict=True):
        for name, value in row.items():
            if isinstance(value, bool):
                assert str(value).lower() == line[name]
            elif isinstance(value, float):
                assert value == float(line[name])
            else:
                assert ("" if value is None else str(value)) == line[name]


def test_without_pyarrow_a_parquet_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    swept(tmp_path / "run", changed(RIVERS, ("[3, 4]", "[3]"), ("[2, 3]", "2")))
    with pytest.raises(SimgapError) as error:
        export_table(tmp_path / "run", tmp_path / "t.parquet")
    assert error.value.code == "no-pyarrow"
    with pytest.raises(SimgapError) as error:
        export_table(tmp_path / "run", tmp_path / "t.xls")
    assert error.value.code == "no-such-table"
