"""The table of a sweep: a line for each cell, in the order of the plan.

Every number has three columns: the number itself where it was estimated, and the ends
of its interval; and one that says how certain it is. A word, such as why planning
stopped, has the first of them only, and is "as told". What was computed on one core or
on many, in one go or resumed, gives the same bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from pathlib import Path
from typing import Any

from simgap.errors import InvalidArgument, InvalidFile
from simgap.ledger import Ledger
from simgap.records.sweep import axis_text
from simgap.sweeps.fields import Question
from simgap.sweeps.plan import Plan
from simgap.sweeps.rows import DONE, FAILED, read_done, read_failure
from simgap.user_files import replacing

TABLE = "table.csv"
CSV, PARQUET = ".csv", ".parquet"
CELL, STATE, NOTES = "cell", "state", "notes"
ENDINGS = ("", "_lower", "_upper", "_certainty")  # of the columns of a number
TOLD = "as told"  # certainty of what has no interval
GROUP = 65_536  # lines of a Parquet file that are written at a time


def header_of(axes: Iterable[str], question: Question) -> list[str]:
    """Return the names of the columns."""
    numbers = [name + ending for name in question.columns for ending in ENDINGS]
    return [*axes, *numbers, NOTES, STATE, CELL]


def lines(plan: Plan, ledger: Ledger) -> Iterator[list[Any]]:
    """Return the values of each cell."""
    nothing = [None] * (len(ENDINGS) * len(plan.question.columns))
    for axes, key in zip(product(*plan.axes.values()), plan.cell_keys(), strict=True):
        row = ledger.find(key)
        if row is None or row.status not in (DONE, FAILED):
            yield [*axes, *nothing, "", "not yet", key]
        elif row.status == FAILED:
            yield [*axes, *nothing, read_failure(row.content).code, FAILED, key]
        else:
            found, _ = read_done(row.content)
            line = [*axes]
            for name in plan.question.columns:
                line += _four(found["numbers"].get(name), found["certified"])
            yield [*line, " ".join(found[NOTES]), DONE, key]


def write_table(plan: Plan, ledger: Ledger, path: Path) -> None:
    """Write the table in the form that the name of the file says."""
    if path.suffix == CSV:
        with (
            replacing(path) as draft,
            draft.open("w", encoding="utf-8", newline="") as stream,
        ):
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(header_of(plan.axes, plan.question))
            for line in lines(plan, ledger):
                writer.writerow(
                    ["" if each is None else axis_text(each) for each in line]
                )
    elif path.suffix == PARQUET:
        _write_parquet(plan, ledger, path)
    else:
        raise InvalidArgument(
            f"{path.name} is no name for a table",
            hint=f"it ends in {CSV} or {PARQUET}",
            code="no-such-table",
        )


def _four(value: Any, certified: str) -> list[Any]:
    """Return a number, its ends, and how certain it is."""
    if not isinstance(value, Mapping):
        return [value, None, None, None if value is None else TOLD]
    ends = [_float(value["lower"]), _float(value["upper"])]
    if "estimate" in value:
        sure = f"estimated, {100.0 * value['confidence']:.3g} %"
        return [_float(value["estimate"]), *ends, sure]
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
    kinds = _kinds(plan, lines(plan, ledger))
    types = {
        str: pyarrow.string(),
        float: pyarrow.float64(),
        int: pyarrow.int64(),
        bool: pyarrow.bool_(),
    }
    schema = pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()])
    every = lines(plan, ledger)
    with replacing(path) as draft, parquet.ParquetWriter(draft, schema) as writer:
        while group := list(islice(every, GROUP)):
            columns = [
                [_as(kind, row[at]) for row in group]
                for at, kind in enumerate(kinds.values())
            ]
            writer.write_table(pyarrow.table(columns, schema=schema))


def _kinds(plan: Plan, every: Iterator[list[Any]]) -> dict[str, type]:
    """Return what each column holds."""
    names = header_of(plan.axes, plan.question)
    found: dict[str, type] = dict.fromkeys((NOTES, STATE, CELL), str)
    for name, values in plan.axes.items():
        kinds = {type(each) for each in values}
        whole = next((kind for kind in (bool, int) if kinds == {kind}), str)
        found[name] = float if float in kinds <= {int, float} else whole
    for name in plan.question.columns:
        found |= {name + ending: float for ending in ENDINGS[1:3]}
        found[name + ENDINGS[3]] = str
    left = [names.index(name) for name in plan.question.columns]  # numbers or words
    for line in every:
        for at in [each for each in left if line[each + 3] is not None]:
            found[names[at]] = type(line[at]) if line[at + 3] == TOLD else float
            left.remove(at)
        if not left:
            break
    return {name: found.get(name, float) for name in names}


def _as(kind: type, value: Any) -> Any:
    if value is None or isinstance(value, kind):
        return value
    return axis_text(value) if kind is str else kind(value)
