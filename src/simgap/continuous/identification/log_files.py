"""Real logs from files: CSV, .npz, or Parquet if pyarrow is installed.

Columns are `obs_0`, `obs_1`, ... in the order of the simulator's observations (or with
names, `obs_speed`, in that order), `act_0`, ...; `next_obs_0`, ..., unless a row is
followed by the next one; `episode`, unless all rows are one; `time` in seconds, if it
was recorded. An .npz may have `obs`, `act` and `next_obs` as tables. Names of LeRobot
are known: `observation.state`, `action`, `episode_index`, `timestamp`.
"""

from __future__ import annotations

import csv
import io
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.continuous.identification.real_log import RealLog
from simgap.errors import InvalidArgument, InvalidFile
from simgap.text import counted, nearest, number, shown
from simgap.user_files import opened, size_of

LARGEST_LOG = 2**29  # bytes
ENDINGS = (".csv", ".npz", ".parquet")
HEADER = "episode,obs_0,obs_1,...,act_0,..."
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
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise _wrong(path, f"it ends in {shown(ending)!r}", "log-ending")
    with opened(path, "log", endings=ENDINGS) as stream:
        if size_of(stream) > LARGEST_LOG:
            raise _wrong(path, f"it is larger than {LARGEST_LOG} bytes", "log-size")
        if ending == ".csv":
            columns, first = _read_csv(stream, path), 2
        else:
            read = _read_npz if ending == ".npz" else _read_parquet
            columns, first = read(stream, path), 1
    return _as_log(_Table(path, columns, first), rate)


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


class _Table:
    """Columns of numbers, and how a row is called in an error."""

    def __init__(self, path: Path, columns: dict[str, AnyArray], first: int) -> None:
        self.path, self.first = path, first
        self.lines = columns.pop("\n", None)
        self.columns = {LEROBOT.get(name, name): each for name, each in columns.items()}

    def where(self, row: int) -> str:
        """Return the place of a row for an error message."""
        if self.lines is not None:
            return f"line {int(self.lines[row])}"
        return f"row {row + self.first}"

    def table(self, kind: str) -> FloatArray | None:
        """Return all columns of a kind side by side, (n, k), or None without any."""
        names = [each for each in self.columns if _kind(each) == kind]
        if not names:
            return None
        if not len(self.columns[names[0]]):
            raise _wrong(self.path, "it has no rows", "log-empty")
        places = [each.removeprefix(f"{kind}_") for each in names]
        if all(each.isdecimal() for each in places):
            order = sorted(range(len(names)), key=lambda at: int(places[at]))
            names = [names[at] for at in order]
            numbers = sorted(int(each) for each in places)
            hole = next((at for at, each in enumerate(numbers) if at != each), None)
            if hole is not None:
                raise _wrong(
                    self.path, f"there is no column {kind}_{hole}", "log-columns"
                )
        parts = [np.asarray(self.columns[name]) for name in names]
        found = np.column_stack([each.reshape(len(each), -1) for each in parts])
        if found.dtype.kind not in "fiub":
            raise _wrong(self.path, f"{kind} are not numbers", "log-number")
        table = found.astype(np.float64)
        bad = np.argwhere(~np.isfinite(table))
        if bad.size:
            row, at = bad[0].tolist()
            raise _wrong(
                self.path,
                f"{self.where(row)}: {kind}_{at} is {table[row, at]}",
                "log-not-finite",
                hint="leave the row out and begin a new episode after it",
            )
        return table


def _as_log(table: _Table, rate: float | None) -> RealLog:
    path, columns = table.path, table.columns
    seen, acts = table.table("obs"), table.table("act")
    if seen is None or acts is None:
        missing = "obs_0" if seen is None else "act_0"
        near = nearest(missing, columns, cutoff=0.4)
        hint = f"did you mean {near[0]}? Rename it {missing}" if near else ""
        raise _wrong(path, f"it has no column {missing}", "log-columns", hint=hint)
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
        raise _wrong(
            path,
            f"{table.where(int(again))}: episode {names[episode[again]]} begins again",
            "log-order",
            hint="rows of an episode stand together, in the order of time",
        )
    dt = _time_step(table, episode, rate)
    if dt is None:
        notes.append(
            "the log has no time and no rate is given: one row is taken for one step "
            "of the simulator"
        )
    after = table.table("next_obs")
    keep = np.ones(len(seen), np.bool_)
    if after is None:
        after = np.concatenate([seen[1:], seen[:1]])
        keep[np.append(changes - 1, len(seen) - 1)] = False
    if after.shape != seen.shape:
        raise _wrong(
            path,
            f"it has {seen.shape[1]} columns obs_ and {after.shape[1]} next_obs_",
            "log-columns",
        )
    unused = [each for each in columns if _kind(each) is None and each not in KNOWN]
    if unused:
        notes.append(f"columns of the log that are not used: {', '.join(unused[:6])}")
    return RealLog(episode[keep], seen[keep], acts[keep], after[keep], dt, tuple(notes))


def _time_step(table: _Table, episode: OffsetArray, rate: float | None) -> float | None:
    """Return the seconds between two rows, or None if nobody says."""
    given = None if rate is None else 1.0 / rate
    if "time" not in table.columns:
        return given
    time = np.asarray(table.columns["time"], np.float64)
    same = np.diff(episode) == 0
    passed = np.diff(time)
    if not same.any():
        return given
    late = np.flatnonzero(same & ~(passed > 0.0))
    if late.size:
        raise _wrong(
            table.path,
            f"{table.where(int(late[0]) + 1)}: time goes from {time[late[0]]:g} to "
            f"{time[late[0] + 1]:g}",
            "log-time",
            hint="time is in seconds and grows within an episode",
        )
    usual = float(np.median(passed[same]))
    if given is not None and abs(usual - given) > SAME_RATE * given:
        raise _wrong(
            table.path,
            f"its times are {usual:g} s apart, the rate says {given:g} s",
            "log-rate",
            hint=f"is the rate {number(1.0 / usual, 3)} steps per second?",
        )
    dt = given or usual
    far = np.flatnonzero(same & (passed > GAP * dt))
    if far.size:
        raise _wrong(
            table.path,
            f"{table.where(int(far[0]) + 1)}: {passed[far[0]]:g} s after the row "
            f"before, a step is {dt:g} s",
            "log-gap",
            hint=f"begin a new episode after each gap; there "
            f"{'is' if far.size == 1 else 'are'} {counted(far.size, 'gap')}",
        )
    return dt


def _read_csv(stream: BinaryIO, path: Path) -> dict[str, AnyArray]:
    try:
        text = stream.read(LARGEST_LOG + 1).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong(path, "it is not text in UTF-8", "log-text") from error
    try:
        lines = csv.reader(io.StringIO(text), strict=True)
        header = [each.strip() for each in next(lines, [])]
        rows = [(lines.line_num, row) for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        raise _wrong(path, f"it is not CSV: {error}", "log-text") from error
    if not header:
        raise _wrong(path, "it is empty", "log-empty")
    if len(set(header)) < len(header):
        twice = next(each for each in header if header.count(each) > 1)
        raise _wrong(path, f"it has the column {shown(twice)} twice", "log-columns")
    for line, row in rows:
        if len(row) != len(header):
            raise _wrong(
                path,
                f"line {line} has {len(row)} fields, the header {len(header)}",
                "log-fields",
            )
    columns: dict[str, AnyArray] = {"\n": np.array([line for line, _ in rows])}
    for at, name in enumerate(header):
        column = [row[at].strip() for _, row in rows]
        if _kind(name) is None and name != "time":
            columns[name] = np.array(column)
            continue
        try:
            columns[name] = np.array(list(map(float, column)))
        except ValueError:
            bad = next(at for at, each in enumerate(column) if not _is_number(each))
            raise _wrong(
                path,
                f"line {rows[bad][0]}: {name} is {shown(column[bad])!r}",
                "log-number",
                hint="it is a number; leave the row out if it was not measured, and "
                "begin a new episode after it",
            ) from None
    return columns


def _read_npz(stream: BinaryIO, path: Path) -> dict[str, AnyArray]:
    from zipfile import BadZipFile, ZipFile
    from zlib import error as zip_error

    try:
        with ZipFile(stream) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > 2 * LARGEST_LOG:
            raise _wrong(path, f"it unpacks to {total} bytes", "log-size")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as found:
            columns = {name: found[name] for name in found.files}
    except (BadZipFile, zip_error, ValueError, EOFError, RuntimeError) as error:
        raise _wrong(
            path, f"it is not a readable .npz: {str(error)[:200]}", "log-npz"
        ) from error
    return _even(columns, path)


def _read_parquet(stream: BinaryIO, path: Path) -> dict[str, AnyArray]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidArgument(
            f"{path} is Parquet, and pyarrow is not installed",
            hint="pip install 'simgap[interop]', or save the log as CSV",
            code="needs-pyarrow",
        ) from error
    try:
        table: Any = parquet.read_table(stream)
        columns = {}
        for name in table.column_names:
            values = table[name].to_pylist()
            columns[str(name)] = np.array(values)
    except Exception as error:  # pyarrow has errors of its own
        raise _wrong(
            path, f"it is not readable Parquet: {str(error)[:200]}", "log-parquet"
        ) from error
    return _even(columns, path)


def _even(columns: dict[str, AnyArray], path: Path) -> dict[str, AnyArray]:
    sizes = {name: each.shape[0] if each.ndim else -1 for name, each in columns.items()}
    if len(set(sizes.values())) > 1 or -1 in sizes.values():
        raise _wrong(path, f"its arrays have different lengths: {sizes}", "log-fields")
    return columns


def _kind(name: str) -> str | None:
    """Return which table a column is part of, if any."""
    return next(
        (each for each in TABLES if name == each or name.startswith(f"{each}_")), None
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wrong(path: Path, problem: str, code: str, *, hint: str = "") -> InvalidFile:
    return InvalidFile(
        f"{path}: {problem}",
        hint=hint or f"a log is CSV, .npz or Parquet with columns {HEADER}",
        code=code,
    )
