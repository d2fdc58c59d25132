"""Real logs from files: CSV, .npz, or Parquet if pyarrow is installed.

Columns are `obs_0`, `obs_1`, ... in the order of the simulator's observations (or with
names, `obs_speed`, in that order), `act_0`, ...; `next_obs_0`, ..., unless a row is
followed by the next one; `episode`, unless all rows are one; `time` in seconds, if it
was recorded. An .npz may have `obs`, `act` and `next_obs` as tables. Names of LeRobot
are known: `observation.state`, `action`, `episode_index`, `timestamp`.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.columns import ENDINGS, Table, read_table
from simgap.continuous.identification.real_log import RealLog
from simgap.errors import InvalidArgument
from simgap.text import counted, nearest, number
from simgap.user_files import opened

ABOUT = "a log is CSV, .npz or Parquet with columns episode,obs_0,obs_1,...,act_0,..."
LONGEST_HEADER = 2**20  # bytes of a first line that are looked at
GAP = 1.5  # steps that may pass between two rows
SAME_RATE = 0.05  # relative
LEROBOT = {
    "observation.state": "obs",
    "action": "act",
    "episode_index": "episode",
    "timestamp": "time",
}
KNOWN = ("episode", "time")
TABLES = ("next_obs", "obs", "act")  # in the order in which a name is looked at


def read_real_log(path: str | Path, *, rate: float | None = None) -> RealLog:
    """Return the log in a file; `rate` is in steps per second.

    A rate is checked against the times, and times must be evenly spaced: more than 1.5
    steps between two rows of an episode are refused.
    """
    if rate is not None and not (rate > 0.0 and np.isfinite(rate)):
        raise InvalidArgument(
            f"the rate is {rate}", hint="steps per second, such as 50"
        )
    return _as_log(read_table(path, "log", about=ABOUT), rate)


def is_real_log(path: str | PathLike[str]) -> bool:
    """Return whether a file is a log of observations, not of numbered states.

    An .npz and Parquet are; a CSV says so by its first line.
    """
    path = Path(path)
    if path.suffix.lower() in ENDINGS[1:]:
        return True
    if not path.is_file():  # a pipe can be read once
        return False
    with opened(path, "log", endings=ENDINGS) as stream:
        line = stream.readline(LONGEST_HEADER).decode("utf-8-sig", "replace")
    names = [each.strip().strip('"') for each in line.split(",")]
    return any(_kind(LEROBOT.get(name, name)) == "obs" for name in names)


def _beside(table: Table, kind: str) -> FloatArray | None:
    """Return all columns of a kind side by side, (n, k), or None without any."""
    names = [each for each in table.columns if _kind(each) == kind]
    if not names:
        return None
    if not len(table.columns[names[0]]):
        raise table.wrong("it has no rows", "empty")
    places = [each.removeprefix(f"{kind}_") for each in names]
    if all(each.isdecimal() for each in places):
        order = sorted(range(len(names)), key=lambda at: int(places[at]))
        names = [names[at] for at in order]
        numbers = sorted(int(each) for each in places)
        hole = next((at for at, each in enumerate(numbers) if at != each), None)
        if hole is not None:
            raise table.wrong(f"there is no column {kind}_{hole}", "columns")
    parts = [
        table.numbers(name) if table.columns[name].ndim == 1 else table.columns[name]
        for name in names
    ]
    found = np.column_stack([each.reshape(len(each), -1) for each in parts])
    if found.dtype.kind not in "fiub":
        raise table.wrong(f"{kind} are not numbers", "number")
    side_by_side = found.astype(np.float64)
    bad = np.argwhere(~np.isfinite(side_by_side))
    if bad.size:
        row, at = bad[0].tolist()
        raise table.wrong(
            f"{table.where(row)}: {kind}_{at} is {side_by_side[row, at]}",
            "not-finite",
            hint="leave the row out and begin a new episode after it",
        )
    return side_by_side


def _as_log(table: Table, rate: float | None) -> RealLog:
    table.columns = {LEROBOT.get(name, name): c for name, c in table.columns.items()}
    columns = table.columns
    seen, acts = _beside(table, "obs"), _beside(table, "act")
    if seen is None or acts is None:
        missing = "obs_0" if seen is None else "act_0"
        near = nearest(missing, columns, cutoff=0.4)
        hint = f"did you mean {near[0]}? Rename it {missing}" if near else ""
        raise table.wrong(f"it has no column {missing}", "columns", hint=hint)
    notes = []
    if "episode" in columns:
        names, episode = np.unique(columns["episode"], return_inverse=True)
    else:
        episode = np.zeros(len(seen), np.int64)
        notes.append("the log has no column episode: all rows are one episode")
    changes = np.flatnonzero(np.diff(episode)) + 1
    begins = np.concatenate([[0], changes])
    first, counts = np.unique(episode[begins], return_counts=True)
    if (counts > 1).any():
        again = begins[episode[begins] == first[counts > 1][0]][1]
        raise table.wrong(
            f"{table.where(int(again))}: episode {names[episode[again]]} begins again",
            "order",
            hint="rows of an episode stand together, in the order of time",
        )
    dt = _time_step(table, episode, rate)
    if dt is None:
        notes.append(
            "the log has no time and no rate is given: one row is taken for one step "
            "of the simulator"
        )
    after = _beside(table, "next_obs")
    keep = np.ones(len(seen), np.bool_)
    if after is None:
        after = np.concatenate([seen[1:], seen[:1]])
        keep[np.append(changes - 1, len(seen) - 1)] = False
    if not keep.any():
        raise table.wrong(
            "no row is followed by another one of its episode",
            "empty",
            hint="an episode is two rows or more, or rows have next_obs_0, ...",
        )
    if after.shape != seen.shape:
        raise table.wrong(
            f"it has {seen.shape[1]} columns obs_ and {after.shape[1]} next_obs_",
            "columns",
        )
    unused = [each for each in columns if _kind(each) is None and each not in KNOWN]
    if unused:
        notes.append(f"columns of the log that are not used: {', '.join(unused[:6])}")
    return RealLog(episode[keep], seen[keep], acts[keep], after[keep], dt, tuple(notes))


def _time_step(table: Table, episode: OffsetArray, rate: float | None) -> float | None:
    """Return the seconds between two rows, or None if nobody says."""
    given = None if rate is None else 1.0 / rate
    if "time" not in table.columns:
        return given
    time = table.numbers("time")
    same = np.diff(episode) == 0
    passed = np.diff(time)
    if not same.any():
        return given
    late = np.flatnonzero(same & ~(passed > 0.0))
    if late.size:
        raise table.wrong(
            f"{table.where(int(late[0]) + 1)}: time goes from {time[late[0]]:g} to "
            f"{time[late[0] + 1]:g}",
            "time",
            hint="time is in seconds and grows within an episode",
        )
    usual = float(np.median(passed[same]))
    if given is not None and abs(usual - given) > SAME_RATE * given:
        raise table.wrong(
            f"its times are {usual:g} s apart, the rate says {given:g} s",
            "rate",
            hint=f"is the rate {number(1.0 / usual, 3)} steps per second?",
        )
    dt = given or usual
    far = np.flatnonzero(same & (passed > GAP * dt))
    if far.size:
        raise table.wrong(
            f"{table.where(int(far[0]) + 1)}: {passed[far[0]]:g} s after the row "
            f"before, a step is {dt:g} s",
            "gap",
            hint=f"begin a new episode after each gap; there "
            f"{'is' if far.size == 1 else 'are'} {counted(far.size, 'gap')}",
        )
    return dt


def _kind(name: str) -> str | None:
    """Return which table a column is part of, if any."""
    return next(
        (each for each in TABLES if name == each or name.startswith(f"{each}_")), None
    )
