"""Rows of parameters in a file: a posterior from system identification, for instance.

A CSV file has a header of names; an .npz has one array of numbers for each. A name is
that of a parameter or a pattern, and the numbers are its values; `name*=` says that
they are factors, `name+=` that they are offsets. A column `weight`, if there is one,
says how likely a row is beside the others; a parameter of that name is `weight=`.
"""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, final

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.continuous.randomization.spec import Operation, check_name
from simgap.errors import InvalidArgument, InvalidFile
from simgap.text import shown
from simgap.user_files import opened, replacing, size_of

LARGEST_FILE = 2**26  # bytes
MOST_NUMBERS = 2**24
ENDINGS = (".csv", ".npz")
WEIGHT = "weight"
BAD_ROWS = "randomize-rows"  # code
BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    EOFError,
    RuntimeError,  # a password
    KeyError,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """The rows of a file in an order of their own, so that the file's is no matter."""

    columns: tuple[tuple[str, Operation], ...]  # (k,)
    values: FloatArray  # (n, k)
    chances: FloatArray  # (n,), a distribution

    @property
    def places(self) -> FloatArray:
        """Return the chance of a row or one before it, (n,)."""
        sums: FloatArray = np.cumsum(self.chances)
        return np.asarray(sums / sums[-1])


def read_rows(file: str) -> RowTable:
    """Return the rows of a CSV or .npz file."""
    path = Path(file)
    if path.suffix.lower() not in ENDINGS:
        raise InvalidFile(
            f"{shown(file)} ends neither in .csv nor in .npz",
            hint="save the rows as CSV with a header of names",
            code=BAD_ROWS,
        )
    with opened(path, "file of rows", endings=ENDINGS) as stream:
        if size_of(stream) > LARGEST_FILE:
            raise _wrong(path, f"it is larger than {LARGEST_FILE} bytes")
        read = _read_csv if path.suffix.lower() == ".csv" else _read_npz
        table = read(stream, path)
    return _checked(table, path)


def write_rows(
    path: Path, columns: Sequence[str], values: FloatArray, weights: FloatArray | None
) -> None:
    """Write rows as CSV: columns are `name`, `name*=` or `name+=`, values (n, k)."""
    names = list(columns)
    if weights is not None:
        names, values = [*names, WEIGHT], np.column_stack([values, weights])
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([repr(float(x)) for x in row] for row in values)


def _read_csv(stream: BinaryIO, path: Path) -> dict[str, FloatArray]:
    try:
        text = stream.read(LARGEST_FILE + 1).decode("utf-8-sig")
        lines = csv.reader(io.StringIO(text), strict=True)
        header = [each.strip() for each in next(lines, [])]
        rows = [(lines.line_num, row) for row in lines if any(map(str.strip, row))]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _wrong(path, f"it is not CSV in UTF-8: {error}") from error
    if len(set(header)) < len(header):
        twice = next(each for each in header if header.count(each) > 1)
        raise _wrong(path, f"it has the column '{shown(twice)}' twice")
    table = np.empty((len(rows), len(header)))
    for i, (line, row) in enumerate(rows):
        if len(row) != len(header):
            raise _wrong(
                path, f"line {line} has {len(row)} fields, the header {len(header)}"
            )
        for j, entry in enumerate(row):
            try:
                table[i, j] = float(entry)
            except ValueError:
                raise _wrong(
                    path,
                    f"line {line}: {shown(header[j])} is '{shown(entry)}', not a "
                    "number",
                ) from None
    return dict(zip(header, table.T, strict=True))


def _read_npz(stream: BinaryIO, path: Path) -> dict[str, FloatArray]:
    try:
        with zipfile.ZipFile(stream) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
            if total > 8 * MOST_NUMBERS:
                raise _wrong(path, f"it unpacks to {total} bytes")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
    except BAD_ZIP as error:
        raise _wrong(path, f"it is not a readable .npz: {str(error)[:200]}") from error
    for name, array in arrays.items():
        if array.ndim != 1 or array.dtype.kind not in "fiu":
            raise _wrong(
                path,
                f"array '{shown(name)}' is {array.dtype} of shape {array.shape}, not "
                "a list of numbers",
            )
    if len({array.size for array in arrays.values()}) > 1:
        raise _wrong(path, "its arrays have different lengths")
    return {name: array.astype(np.float64) for name, array in arrays.items()}


def _checked(table: Mapping[str, FloatArray], path: Path) -> RowTable:
    names = [name for name in table if name != WEIGHT]
    if not names or not next(iter(table.values())).size:
        raise _wrong(path, "it has no rows, or no columns of parameters")
    for name, column in table.items():
        if (bad := np.flatnonzero(~np.isfinite(column))).size:
            raise _wrong(path, f"row {bad[0] + 1}: {shown(name)} is not finite")
    values = np.column_stack([table[name] for name in names])
    weights = table.get(WEIGHT, np.ones(len(values)))
    if (weights < 0.0).any() or not 0.0 < weights.sum() < np.inf:
        raise _wrong(path, f"the column {WEIGHT} has numbers below 0, or no other")
    if values.size > MOST_NUMBERS:
        raise _wrong(path, f"it has {values.size} numbers, {MOST_NUMBERS} are read")
    kept = np.lexsort(values.T[::-1])
    kept = kept[weights[kept] > 0.0]
    return RowTable(
        tuple(_column(name, path) for name in names),
        owned(values[kept]),
        owned(weights[kept] / weights.sum()),
    )


def _column(header: str, path: Path) -> tuple[str, Operation]:
    for operation in (Operation.SCALE, Operation.OFFSET, Operation.ABSOLUTE):
        if header.endswith(operation.value):
            break
    name = header.removesuffix(operation.value).strip()
    try:
        check_name(name)
    except InvalidArgument as error:
        raise _wrong(path, f"column '{shown(header)}': {error.problem}") from error
    return name, operation


def _wrong(path: Path, problem: str) -> InvalidFile:
    return InvalidFile(
        f"{path}: {problem}",
        hint="a file of rows is CSV: a header with the names of parameters, then "
        "numbers; or an .npz with a list of numbers for each name",
        code=BAD_ROWS,
    )
