"""Rows of parameters in a file: a posterior from system identification, for instance.

A CSV file has a header of names; .npz and Parquet have numbers for each. A name is
that of a parameter or a pattern, and the numbers are its values; `name*=` says that
they are factors, `name+=` that they are offsets. A column `weight`, if there is one,
says how likely a row is beside the others; a parameter of that name is `weight=`.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.continuous.columns import Table, read_table
from simgap.continuous.randomization.spec import Operation, check_name
from simgap.errors import InvalidArgument
from simgap.text import shown
from simgap.user_files import replacing

MOST_NUMBERS = 2**24
WEIGHT = "weight"
BAD_ROWS = "randomize-rows"  # code
ABOUT = (
    "a file of rows is CSV: a header with the names of parameters, then numbers; or "
    ".npz or Parquet with a list of numbers for each name"
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
    """Return the rows of a CSV, .npz or Parquet file."""
    return _checked(read_table(file, "file of rows", about=ABOUT, code=BAD_ROWS))


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


def _checked(file: Table) -> RowTable:
    names = [name for name in file.columns if name != WEIGHT]
    if not names or not next(iter(file.columns.values())).size:
        raise file.wrong("it has no rows, or no columns of parameters")
    table = {name: file.numbers(name) for name in file.columns}
    for name, column in table.items():
        if column.ndim != 1:
            raise file.wrong(f"{shown(name)} has shape {column.shape}")
        if (bad := np.flatnonzero(~np.isfinite(column))).size:
            raise file.wrong(f"{file.where(int(bad[0]))}: {shown(name)} is not finite")
    values = np.column_stack([table[name] for name in names])
    weights = table.get(WEIGHT, np.ones(len(values)))
    if (weights < 0.0).any() or not 0.0 < weights.sum() < np.inf:
        raise file.wrong(f"the column {WEIGHT} has numbers below 0, or no other")
    if values.size > MOST_NUMBERS:
        raise file.wrong(f"it has {values.size} numbers, {MOST_NUMBERS} are read")
    kept = np.lexsort(values.T[::-1])
    kept = kept[weights[kept] > 0.0]
    return RowTable(
        tuple(_column(name, file) for name in names),
        owned(values[kept]),
        owned(weights[kept] / weights.sum()),
    )


def _column(header: str, file: Table) -> tuple[str, Operation]:
    for operation in (Operation.SCALE, Operation.OFFSET, Operation.ABSOLUTE):
        if header.endswith(operation.value):
            break
    name = header.removesuffix(operation.value).strip()
    try:
        check_name(name)
    except InvalidArgument as error:
        raise file.wrong(f"column '{shown(header)}': {error.problem}") from error
    return name, operation
