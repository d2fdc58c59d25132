"""Returns that were measured elsewhere: a table in, a cube out.

Columns `policy` and `return`; `seed` (of training), `episode`, `episode_seed` and
`success` if there are any. `columns` says which others are parameters; unless it is
given, all others are. An empty return, or nan, is an episode that broke.

Only `episode_seed`, the seed of the random numbers of an episode, says which episodes
share their luck. Points with other seeds each are independent. Where seeds are shared,
or nobody says, errors of points may agree, whatever the order of the rows is.
"""

from __future__ import annotations

from math import nan
from typing import Any, NamedTuple

import numpy as np

from simgap.arrays import AnyArray, OffsetArray
from simgap.continuous.columns import Table, read_table
from simgap.continuous.cube import Cube, Failure
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.errors import InvalidFile
from simgap.records.note import Note
from simgap.text import listed, suggestion

MOST_ENTRIES = 2**27  # of the cube: a gigabyte
NEEDED = ("policy", "return")
KNOWN = (*NEEDED, "seed", "episode", "episode_seed", "success")
ABOUT = "columns are policy, parameters, seed, episode, episode_seed, return, success"
OUTCOMES = {"1": 1.0, "0": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
OUTCOMES |= {"1.0": 1.0, "0.0": 0.0, "": nan, "nan": nan}


class ReturnsTable(NamedTuple):
    """Returns, what their points can stand for, and what was taken as what."""

    cube: Cube
    points: DrawnPoints
    notes: tuple[Note, ...]


def read_returns(
    given: Any,
    *,
    columns: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
    bounds: tuple[float, float] | None = None,
) -> ReturnsTable:
    """Return the returns of a file (CSV, Parquet, .npz), a data frame, or arrays.

    `columns` are the parameters. All points count as inside the range. A full grid is a
    grid; of other points nobody says how they were drawn, so that means over them are
    approximate.
    """
    table = read_table(given, "returns", about=ABOUT)
    known = {
        each.casefold(): each for each in table.columns if each.casefold() in KNOWN
    }
    names = _parameters(table, known, columns)
    rows = _Rows(table, known, names)
    if bounds is not None:
        _refuse_beyond(table, rows, bounds)
    cube, labels = _cube(table, names, rows, references, bounds)
    levels = [np.unique(column).size for column in cube.theta.T]
    grid = float(np.prod(levels, dtype=float)) == len(cube.theta)
    notes = [_taken(table, known, names)]
    shared = "episode_seed" not in known or not _all_differ(labels)
    if "episode_seed" not in known:
        notes.append(
            Note(
                "dependence-unknown",
                "the table has no column episode_seed: whether episodes at different "
                "points share their luck is not known, and means over points are not "
                "guaranteed",
            )
        )
    drawn = Drawn.CHOSEN if grid else Drawn.SCRAMBLED
    return ReturnsTable(cube, DrawnPoints(drawn, shared=shared), tuple(notes))


class _Rows:
    """The columns of a table as numbers: N rows."""

    def __init__(
        self, table: Table, known: dict[str, str], names: tuple[str, ...]
    ) -> None:
        size = len(table.columns[known["policy"]])
        if not size:
            raise table.wrong("line 1: there is no row below the header", "empty")

        def texts(name: str) -> AnyArray | None:
            return table.texts(known[name]) if name in known else None

        policies, seeds = table.texts(known["policy"]), texts("seed")
        unnamed: AnyArray = policies == ""
        _refuse(table, unnamed, "no policy", "give every policy a name")
        self.policies, self.policy = _in_order(policies)
        _, self.seed = _within(
            self.policy, np.full(size, "") if seeds is None else seeds
        )
        theta = np.column_stack([table.numbers(each) for each in names])
        wrong: AnyArray = np.any(~np.isfinite(theta), axis=1)
        _refuse(table, wrong, "a parameter that is not finite", "give every one")
        self.theta, self.point = _in_order(theta)
        self.returned = table.numbers(known["return"], empty=nan)
        _refuse(
            table,
            np.isinf(self.returned),
            "an infinite return",
            "leave it empty if it broke",
        )
        success = texts("success")
        self.success = np.full(size, nan)
        if success is not None:
            told = np.array([OUTCOMES.get(each.casefold(), 2.0) for each in success])
            _refuse(
                table, told == 2.0, "a success that is no 1 and no 0", "write 1 or 0"
            )
            self.success = told
        labels = texts("episode_seed" if "episode_seed" in known else "episode")
        self.label: OffsetArray | None = None
        if labels is not None:
            _refuse(table, labels == "", "no episode", "give every row its episode")
            self.label = _ranks(labels)


def _parameters(
    table: Table, known: dict[str, str], columns: tuple[str, ...]
) -> tuple[str, ...]:
    """Return which columns are parameters."""
    others = [each for each in table.columns if each.casefold() not in KNOWN]
    for name in NEEDED:
        if name not in known:
            near = suggestion(name, others)
            found = ", ".join(list(table.columns)[:8]) or "nothing"
            raise table.wrong(
                f"line 1: there is no column {name!r}, only {found}",
                "columns",
                hint=near,
            )
    if len(known) < sum(each.casefold() in KNOWN for each in table.columns):
        raise table.wrong("line 1: two columns have one name", "columns")
    for name in columns:
        if name not in others:
            raise table.wrong(
                f"there is no column {name!r} that could be a parameter",
                "columns",
                hint=suggestion(name, others) or f"there is {listed(others)}",
            )
    if not (names := tuple(columns or others)):
        raise table.wrong(
            "line 1: no column is a parameter", "columns", hint="add one: mass"
        )
    return names


def _taken(table: Table, known: dict[str, str], names: tuple[str, ...]) -> Note:
    """Return what each column of a table was taken as."""
    text = f"taken as parameters: {listed(list(names))}; as what they are called: "
    text += listed(sorted(known.values()))
    unused = [e for e in table.columns if e not in names and e not in known.values()]
    if unused:
        text += f"; not used: {listed(unused)}"
    elif len(names) > 1:
        text += "; --columns names the parameters if these are not all parameters"
    return Note("columns", text)


def _cube(
    table: Table,
    names: tuple[str, ...],
    rows: _Rows,
    references: tuple[str, ...],
    bounds: tuple[float, float] | None,
) -> tuple[Cube, OffsetArray]:
    """Return the rows in their places, and the labels of episodes, (C, T, K).

    C are the trainings that there are; -1 where there is no episode.
    """
    first = (len(rows.policies), int(rows.seed.max()) + 1, len(rows.theta))
    cell = np.ravel_multi_index((rows.policy, rows.seed, rows.point), first)
    label = np.zeros_like(cell) if rows.label is None else rows.label
    order = np.lexsort((label, cell))
    counts = np.unique(cell, return_counts=True)[1]
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
    if rows.label is None:
        label = rank
    else:
        _refuse_twice(table, cell[order], label[order], order)
    shape = (*first, int(counts.max()))
    if np.prod(shape, dtype=float) > MOST_ENTRIES:
        raise InvalidFile(
            f"{table.name}: policies, training seeds, points and episodes are a cube "
            f"of {' x '.join(map(str, shape))} entries, {MOST_ENTRIES} at most",
            hint="is there a column that is no parameter? --columns names those that "
            "are",
            code="returns-size",
        )
    at = (rows.policy, rows.seed, rows.point, rank)
    returns, success = np.full(shape, nan), np.full(shape, nan)
    labels = np.full(shape, -1, np.int64)
    returns[at], success[at], labels[at] = rows.returned, rows.success, label
    there = np.zeros(first[:2], np.bool_)
    there[rows.policy, rows.seed] = True
    present = labels[there]
    cube = Cube(
        policies=tuple(rows.policies.tolist()),
        parameters=names,
        theta=rows.theta,
        inside=np.ones(first[2], dtype=np.bool_),
        returns=returns,
        success=success if np.isfinite(success).any() else None,
        references=references,
        bounds=bounds,
        failures=_missing(table, rows, rank),
        paired=rows.label is not None
        and bool((present == present[:1]).all() and (present[:, :, 0] >= 0).all()),
    )
    return cube, present


def _missing(table: Table, rows: _Rows, rank: OffsetArray) -> tuple[Failure, ...]:
    """Return the episodes without a return."""
    return tuple(
        Failure(
            str(rows.policies[rows.policy[row]]),
            int(rows.seed[row]),
            int(rows.point[row]),
            int(rank[row]),
            0,
            "return-missing",
            f"{table.where(row)} has no return",
        )
        for row in np.flatnonzero(np.isnan(rows.returned)).tolist()
    )


def _all_differ(labels: OffsetArray) -> bool:
    """Return whether no label stands at two points."""
    points = np.broadcast_to(np.arange(labels.shape[1])[:, None], labels.shape)
    pairs = np.unique(np.stack([labels.ravel(), points.ravel()]), axis=1)
    found = pairs[0][pairs[0] >= 0]
    return bool(np.unique(found).size == found.size)


def _in_order(values: AnyArray) -> tuple[AnyArray, OffsetArray]:
    """Return the values that there are as they first come, and which a row has."""
    axis = 0 if values.ndim > 1 else None
    names, first, places = np.unique(
        values, axis=axis, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return names[order], rank[places.reshape(-1)]


def _within(group: OffsetArray, values: AnyArray) -> tuple[AnyArray, OffsetArray]:
    """Return values as `_in_order`, counted from 0 in each group."""
    names, places = _in_order(values)
    pairs, which = _in_order(group * names.size + places)
    of = pairs // names.size
    rank = np.array([(of[:at] == each).sum() for at, each in enumerate(of)])
    return names, rank[which]


def _ranks(labels: AnyArray) -> OffsetArray:
    """Return episodes by number if all are numbers, else by name."""
    names, places = np.unique(labels, return_inverse=True)
    if all(each.isascii() and each.isdigit() for each in names.tolist()):
        order = np.argsort(np.array([int(each) for each in names.tolist()], object))
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return rank[places]
    return places.astype(np.int64)


def _refuse_twice(
    table: Table, cell: OffsetArray, label: OffsetArray, order: OffsetArray
) -> None:
    """Refuse two rows of one episode."""
    same = (np.diff(cell) == 0) & (np.diff(label) == 0)
    if same.any():
        at = int(np.argmax(same))
        first, again = sorted((int(order[at]), int(order[at + 1])))
        raise table.wrong(
            f"{table.where(again)}: the episode of {table.where(first)} again",
            "twice",
            hint="one row is one episode; other training runs have another seed",
        )


def _refuse_beyond(table: Table, rows: _Rows, bounds: tuple[float, float]) -> None:
    """Refuse a return outside what returns are said to lie between."""
    low, high = bounds
    _refuse(
        table,
        (rows.returned < low) | (rows.returned > high),
        f"a return that is not between {low:g} and {high:g}",
        "declare wider bounds, or none",
    )


def _refuse(table: Table, wrong: AnyArray, what: str, hint: str) -> None:
    """Refuse the first row that is wrong."""
    if wrong.any():
        where = table.where(int(np.argmax(wrong)))
        raise table.wrong(f"{where}: {what}", "value", hint=hint)
