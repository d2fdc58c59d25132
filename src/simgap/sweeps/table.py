"""The table of a sweep: a line for each cell, in the order of the plan.

Every number has three columns: the number itself where it was estimated, and the ends
of its interval; and one that says how certain it is. What was computed on one core or
on many, in one go or resumed, gives the same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simgap.errors import InvalidArgument, InvalidFile
from simgap.ledger import Ledger
from simgap.records import axis_text
from simgap.sweeps.kept import DONE, FAILED, read_done, read_failure
from simgap.sweeps.plan import Plan
from simgap.text import how_sure
from simgap.user_files import replacing

TABLE = "table.csv"
ENDINGS = (".csv", ".parquet")
CELL, STATE, NOTES = "cell", "state", "notes"


def header(plan: Plan) -> list[str]:
    """Return the names of the columns."""
    numbers = [
        name + ending
        for name in plan.question.columns
        for ending in ("", "_lower", "_upper", "_certainty")
    ]
    return [*plan.axes, *numbers, NOTES, STATE, CELL]


def lines(plan: Plan, ledger: Ledger) -> Iterator[list[Any]]:
    """Return the values of each cell."""
    nothing = [None] * (4 * len(plan.question.columns))
    for cell in plan.cells():
        row = ledger.find(cell.key)
        axes = list(cell.axes.values())
        if row is None or row.status not in (DONE, FAILED):
            yield [*axes, *nothing, "", "not yet", cell.key]
        elif row.status == FAILED:
            yield [*axes, *nothing, read_failure(row.content).code, FAILED, cell.key]
        else:
            found, _ = read_done(row.content)
            numbers = [
                each
                for name in plan.question.columns
                for each in _four(found["numbers"].get(name), found["certified"])
            ]
            notes = " ".join(found[NOTES])
            yield [*axes, *numbers, notes, DONE, cell.key]


def write_table(plan: Plan, ledger: Ledger, path: Path) -> None:
    """Write the table in the form that the name of the file says."""
    if path.suffix == ".csv":
        with replacing(path) as draft, draft.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(header(plan))
            for line in lines(plan, ledger):
                writer.writerow(
                    ["" if each is None else axis_text(each) for each in line]
                )
    elif path.suffix == ".parquet":
        _write_parquet(plan, ledger, path)
    else:
        raise InvalidArgument(
            f"{path.name} is no name for a table",
            hint=f"it ends in {' or '.join(ENDINGS)}",
            code="no-such-table",
        )


def _four(value: Any, certified: str) -> list[Any]:
    """Return a number, its ends, and how certain it is."""
    if not isinstance(value, Mapping):
        return [value, None, None, None if value is None else "as told"]
    ends = [_float(value["lower"]), _float(value["upper"])]
    if "estimate" in value:
        sure = how_sure(value["label"], value["confidence"])
        return [_float(value["estimate"]), *ends, f"estimated, {sure}"]
    return [None, *ends, certified]


def _float(value: Any) -> float:
    return float(value)  # "inf" is a number


def _write_parquet(plan: Plan, ledger: Ledger, path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidFile(
            "Parquet needs pyarrow, which is not installed",
            hint="pip install 'simgap[interop]', or write a .csv file",
            code="no-pyarrow",
        ) from error
    names, every = header(plan), list(lines(plan, ledger))
    columns = {name: [row[at] for row in every] for at, name in enumerate(names)}
    content = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), content)
    with replacing(path) as draft:
        draft.write_bytes(content.getvalue())
