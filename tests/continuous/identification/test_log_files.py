"""Logs in files: what is read, and what is wrong with each of many bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import RealLog, is_real_log, read_real_log
from simgap.errors import SimgapError
from tests.continuous.identification.real_pendulum import recorded, written

HEADER = "episode,time,obs_0,obs_1,act_0"


def lines(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows]) + "\n"


def read(folder: Path, text: str, rate: float | None = None) -> RealLog:
    path = folder / "log.csv"
    path.write_text(text, encoding="utf-8")
    return read_real_log(path, rate=rate)


def test_consecutive_rows_of_episodes(tmp_path: Path) -> None:
    log = recorded(0, steps=30, episodes=3)
    again = read_real_log(written(log, tmp_path / "log.csv"), rate=20.0)
    assert again.hash == log.hash and again.dt == 0.05 and again.notes == ()


@pytest.mark.parametrize(
    ("header", "real"),
    [
        (HEADER, True),
        ("\ufeffobs_0, act_0", True),
        ('"obs_speed","act_0"', True),
        ("episode_index,observation.state,action", True),
        ("episode,step,state,action,next_state", False),
        ("state,action,next_state,reward", False),
        ("observer,state", False),
        ("", False),
    ],
)
def test_the_first_line_says_which_log_it_is(
    header: str, real: bool, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(header + "\n0\n", encoding="utf-8")
    assert is_real_log(path) is real


def test_columns_come_in_any_order_and_rows_may_name_what_follows(
    tmp_path: Path,
) -> None:
    header = "act_0,next_obs_1,obs_10,obs_2,next_obs_0,obs_1,obs_0"
    more = "".join(f",obs_{k}" for k in range(3, 10))
    after = "".join(f",next_obs_{k}" for k in range(2, 11))
    row = "7,21,110,102,20,101,100" + ",0" * 7 + ",0" * 9
    log = read(tmp_path, lines(row, row, header=header + more + after))
    assert log.observation[0, [0, 1, 2, 10]].tolist() == [100, 101, 102, 110]
    assert log.next_observation[0, :2].tolist() == [20, 21]
    assert len(log) == 2 and len(log.notes) == 2  # one episode, no time


def test_tables_of_an_npz_are_the_same_log(tmp_path: Path) -> None:
    log = recorded(1, steps=20)
    np.savez(
        tmp_path / "log.npz",
        episode=log.episode,
        obs=log.observation,
        act=log.action,
        next_obs=log.next_observation,
    )
    assert read_real_log(tmp_path / "log.npz").hash == log.hash


def test_parquet_is_read_if_pyarrow_is_there(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    log = recorded(1, steps=20)
    table = arrow.table(
        {
            "episode_index": log.episode,
            "observation.state": log.observation.tolist(),
            "action": log.action.tolist(),
            "next_obs": log.next_observation.tolist(),
            "timestamp": 0.05 * np.arange(20),
        }
    )
    parquet.write_table(table, tmp_path / "log.parquet")
    again = read_real_log(tmp_path / "log.parquet")
    assert again.hash == log.hash and again.dt == pytest.approx(0.05)


GOOD = ("0,0.00,1,2,0", "0,0.05,1,2,0", "0,0.10,1,2,0", "0,0.15,1,2,0")


@pytest.mark.parametrize(
    ("code", "place", "text"),
    [
        ("log-empty", "", ""),
        ("log-empty", "", lines()),
        ("log-empty", "no row", lines(GOOD[0])),
        ("log-empty", "no row", lines("0,0.00,1,2,0", "1,0.00,1,2,0")),
        ("log-columns", "obs_0", lines("0,1", header="episode,act_0")),
        ("log-columns", "act_0", lines("0,1", header="episode,obs_0")),
        ("log-columns", "obs_1", lines("1,2,3", header="obs_0,obs_2,act_0")),
        ("log-columns", "twice", lines("1,2,3", header="obs_0,obs_0,act_0")),
        (
            "log-columns",
            "next_obs_",
            lines("1,2,3,4", header="obs_0,obs_1,act_0,next_obs_0"),
        ),
        ("log-fields", "line 3", lines(GOOD[0], "0,0.05,1,2")),
        ("log-number", "line 4", lines(*GOOD[:2], "0,0.10,off,2,0")),
        ("log-number", "line 3", lines(GOOD[0], "0,0.05,1,2,")),
        ("log-not-finite", "line 3", lines(GOOD[0], "0,0.05,nan,2,0")),
        ("log-not-finite", "line 2", lines("0,0.05,1,2,inf")),
        ("log-order", "line 4", lines(GOOD[0], "1,0,1,2,0", GOOD[1])),
        ("log-time", "line 4", lines(*GOOD[:2], GOOD[1])),
        ("log-gap", "line 6", lines(*GOOD, "0,0.30,1,2,0")),
        ("log-text", "", lines(GOOD[0], '0,0.05,"1,2,0')),
    ],
)
def test_a_bad_log_is_refused_by_code_and_place(
    code: str, place: str, text: str, tmp_path: Path
) -> None:
    with pytest.raises(SimgapError) as told:
        read(tmp_path, text)
    assert told.value.code == code and place in told.value.problem
    assert str(tmp_path / "log.csv") in told.value.problem and told.value.hint


def test_a_rate_that_the_times_contradict_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, lines(*GOOD), rate=20.0).dt == 0.05
    with pytest.raises(SimgapError) as told:
        read(tmp_path, lines(*GOOD), rate=50.0)
    assert told.value.code == "log-rate" and "20" in told.value.hint
    with pytest.raises(SimgapError):
        read(tmp_path, lines(*GOOD), rate=0.0)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name, content, code in (
        ("log.xlsx", b"PK", "log-ending"),
        ("log.npz", b"PK nothing", "log-npz"),
        ("log.csv", b"obs_0,act_0\n\xff,1\n", "log-text"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SimgapError) as told:
            read_real_log(tmp_path / name)
        assert told.value.code == code
    with pytest.raises(SimgapError) as told:
        read_real_log(tmp_path / "none.csv")
    assert told.value.code == "no-file"
    np.savez(tmp_path / "uneven.npz", obs=np.ones((3, 2)), act=np.ones((2, 1)))
    with pytest.raises(SimgapError) as told:
        read_real_log(tmp_path / "uneven.npz")
    assert told.value.code == "log-fields"
    np.savez(tmp_path / "objects.npz", obs=np.array([None]), act=np.ones((1, 1)))
    with pytest.raises(SimgapError) as told:
        read_real_log(tmp_path / "objects.npz")
    assert told.value.code == "log-npz"
