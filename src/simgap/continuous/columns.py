"""Tables with named columns: a CSV file, .npz, Parquet, a data frame, or arrays.

Logs of machines and tables of returns are read here, so that both take the same files
and refuse the same ones: errors name the line, and their codes begin with what is read
(`log-fields`, `returns-fields`).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.errors import InvalidArgument, InvalidFile
from simgap.text import shown
from simgap.user_files import opened, size_of

ENDINGS = (".csv", ".npz", ".parquet")
LARGEST = 2**29  # bytes


@final
class Table:
    """Columns of one length, by name, and how a row is called in an error."""

    def __init__(
        self,
        name: str,
        what: str,
        columns: Mapping[str, AnyArray],
        *,
        about: str = "",
        code: str = "",
        lines: AnyArray | None = None,
    ) -> None:
        self.name, self.columns, self._code = name, dict(columns), code
        self._what, self._about, self._lines = what, about, lines

    def where(self, row: int) -> str:
        """Return the place of a row for an error message."""
        return f"row {row + 1}" if self._lines is None else f"line {self._lines[row]}"

    def texts(self, name: str) -> AnyArray:
        """Return a column as texts; whole numbers are written as such."""
        column = self.columns[name]
        if column.dtype.kind == "U":
            return column
        if column.dtype.kind == "f" and np.all(column == np.floor(column)):
            column = column.astype(np.int64)  # a frame makes 1.0 of 1
        return np.array(["" if each is None else str(each) for each in column.tolist()])

    def numbers(self, name: str, *, empty: float | None = None) -> FloatArray:
        """Return a column as numbers; `empty` stands for fields without any."""
        column = self.columns[name]
        if column.dtype.kind in "fiub":
            return column.astype(np.float64)
        values = [_number(each, empty) for each in column.tolist()]
        bad = next((at for at, each in enumerate(values) if each is None), None)
        if bad is not None:
            raise self.wrong(
                f"{self.where(bad)}: {name} is {shown(str(column[bad]))!r}",
                "number",
                hint="it is a number; leave out the row, or the column",
            )
        return np.array(values, np.float64)

    def wrong(self, problem: str, code: str = "", *, hint: str = "") -> InvalidFile:
        """Return the error of a table."""
        return InvalidFile(
            f"{self.name}: {problem}",
            hint=hint or self._about,
            code=self._code or f"{self._what}-{code}",
        )


def read_table(given: Any, what: str, *, about: str = "", code: str = "") -> Table:
    """Return the columns of a file, a data frame, or arrays by name.

    `what` is read, a word; `about` says in a hint how it looks. Errors have a `code`
    each, unless one is given for all.
    """
    if not isinstance(given, str | os.PathLike):
        return _from_arrays(given, what, about)
    path = Path(given)
    empty = Table(str(path), what, {}, about=about, code=code)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise empty.wrong(f"it ends in {shown(ending)!r}", "ending")
    with opened(path, what, endings=ENDINGS) as stream:
        if size_of(stream) > LARGEST:
            raise empty.wrong(f"it is larger than {LARGEST} bytes", "size")
        lines, columns = None, dict[str, AnyArray]()
        if ending == ".csv":
            lines, columns = _csv(stream, empty)
        else:
            columns = (_npz if ending == ".npz" else _parquet)(stream, empty)
    table = Table(str(path), what, columns, about=about, code=code, lines=lines)
    return _even(table)


def _from_arrays(given: Any, what: str, about: str) -> Table:
    """Return a data frame, a structured array or a mapping as a table."""
    name = type(given).__name__
    names = getattr(getattr(given, "dtype", None), "names", None)
    if names is None:
        names = getattr(given, "columns", None)
    if names is None and isinstance(given, Mapping):
        names = list(given)
    if names is None:
        raise InvalidArgument(
            f"{name} is no table",
            hint="give a file, a data frame, or a mapping of names to columns",
            code=f"{what}-ending",
        )
    columns = {str(each): np.asarray(given[each]) for each in names}
    return _even(Table(name, what, columns, about=about))


def _csv(stream: BinaryIO, empty: Table) -> tuple[AnyArray, dict[str, AnyArray]]:
    try:
        text = stream.read(LARGEST + 1).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise empty.wrong("it is not text in UTF-8", "text") from error
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [each.strip() for each in next(lines, [])]
        rows = [(lines.line_num, row) for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        at = lines.line_num
        raise empty.wrong(f"line {at}: it is not CSV: {error}", "text") from error
    if not header:
        raise empty.wrong("it is empty", "empty")
    if len(set(header)) < len(header) or "" in header:
        twice = next(each for each in header if header.count(each) > 1 or not each)
        said = f"the column {shown(twice)} twice" if twice else "a column without name"
        raise empty.wrong(f"line 1: it has {said}", "columns")
    for line, row in rows:
        if len(row) != len(header):
            raise empty.wrong(
                f"line {line} has {len(row)} fields, the header {len(header)}",
                "fields",
                hint="a name with a comma in it needs double quotes",
            )
    fields = (
        zip(*(row for _, row in rows), strict=True) if rows else ([] for _ in header)
    )
    return np.array([line for line, _ in rows]), {
        name: np.array([each.strip() for each in column], dtype=np.str_)
        for name, column in zip(header, fields, strict=True)
    }


def _npz(stream: BinaryIO, empty: Table) -> dict[str, AnyArray]:
    from zipfile import BadZipFile, ZipFile
    from zlib import error as zip_error

    try:
        with ZipFile(stream) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > 2 * LARGEST:
            raise empty.wrong(f"it unpacks to {total} bytes", "size")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (BadZipFile, zip_error, ValueError, EOFError, RuntimeError) as error:
        raise empty.wrong(
            f"it is not a readable .npz: {str(error)[:200]}", "npz"
        ) from (error)


def _parquet(stream: BinaryIO, empty: Table) -> dict[str, AnyArray]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidArgument(
            f"{empty.name} is Parquet, and pyarrow is not installed",
            hint="pip install 'simgap[interop]', or save it as CSV",
            code="needs-pyarrow",
        ) from error
    try:
        table: Any = parquet.read_table(stream)
        return {
            str(name): np.array(table[name].to_pylist()) for name in table.column_names
        }
    except Exception as error:  # pyarrow has errors of its own
        raise empty.wrong(
            f"it is not readable Parquet: {str(error)[:200]}", "parquet"
        ) from error


def _even(table: Table) -> Table:
    columns = table.columns
    sizes = {name: each.shape[0] if each.ndim else -1 for name, each in columns.items()}
    if len(set(sizes.values())) > 1 or -1 in sizes.values():
        raise table.wrong(f"its arrays have different lengths: {sizes}", "fields")
    return table


def _number(value: Any, empty: float | None) -> float | None:
    """Return a number; None: it is none."""
    if value is None or value == "":
        return empty
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
