"""A table of returns that somebody brings: CSV in, cube out.

Columns `policy` and `return`; `seed` (of training), `episode` and `success` if there
are any; every other column is a parameter. An empty return, or nan, is an episode that
broke. Policies are paired if they have the same episodes at every point.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from math import isfinite, nan, prod
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from simgap.continuous.cube import Cube, Failure
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.errors import InvalidFile
from simgap.text import suggestion
from simgap.user_files import opened, size_of

LARGEST = 2**28  # bytes
MOST_ENTRIES = 2**27  # of the cube: a gigabyte
NEEDED = ("policy", "return")
KNOWN = (*NEEDED, "seed", "episode", "success")
OUTCOMES = {"1": 1.0, "0": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
OUTCOMES |= {"1.0": 1.0, "0.0": 0.0, "": nan, "nan": nan}


class _Row(NamedTuple):
    line: int
    policy: str
    theta: tuple[float, ...]
    seed: str
    episode: str
    returned: float
    success: float


def read_returns(
    path: str | Path,
    *,
    references: tuple[str, ...] = (),
    bounds: tuple[float, float] | None = None,
) -> tuple[Cube, DrawnPoints]:
    """Return the returns of a CSV file, and what its points can stand for.

    All points count as inside the range. A full grid is a grid; of other points nobody
    says how they were drawn, so that means over them are approximate.
    """
    file = Path(path)
    with opened(file, "CSV file", endings=(".csv",)) as stream:
        if (size := size_of(stream)) > LARGEST:
            raise InvalidFile(
                f"{file} has {size} bytes, a table of returns at most {LARGEST}",
                hint="leave out columns that are no parameters, or episodes",
            )
        with TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            names, rows = _read(file, text)
    cube = _cube(file, names, rows, references, bounds)
    levels = [np.unique(column).size for column in cube.theta.T]
    grid = float(np.prod(levels, dtype=float)) == len(cube.theta)
    return cube, DrawnPoints(Drawn.CHOSEN if grid else Drawn.SCRAMBLED, shared=True)


def _read(file: Path, text: TextIOWrapper) -> tuple[tuple[str, ...], list[_Row]]:
    """Return the names of the parameters, and the rows."""
    reader = csv.reader(text, strict=True)
    lines = _lines(file, reader)
    header = [each.strip() for each in next(lines, [])]
    where = {each.casefold(): at for at, each in enumerate(header)}
    if len(where) < len(header) or "" in where:
        _refuse(file, 1, "two columns have one name, or a column has none", "name each")
    for name in NEEDED:
        if name not in where:
            near = suggestion(name, [each for each in where if each not in KNOWN])
            found = ", ".join(header[:8]) or "nothing"
            _refuse(
                file,
                1,
                f"there is no column {name!r}, only {found}",
                near
                or "columns are policy, parameters, seed, episode, return, success",
            )
    places = {name: where.get(name) for name in KNOWN}
    others = [at for at, each in enumerate(header) if each.casefold() not in KNOWN]
    if not others:
        _refuse(file, 1, "no column is a parameter", "add one, for instance mass")

    def cell(row: list[str], name: str) -> str:
        at = places[name]
        return "" if at is None else row[at].strip()

    rows = []
    for row in lines:
        line = reader.line_num
        if not any(each.strip() for each in row):
            continue
        if len(row) != len(header):
            wrong = f"{len(row)} fields, the header has {len(header)}"
            _refuse(file, line, wrong, "a name with a comma in it needs double quotes")
        if not cell(row, "policy"):
            _refuse(file, line, "no policy", "give every policy a name")
        outcome = cell(row, "success").casefold()
        if outcome not in OUTCOMES:
            _refuse(file, line, f"a success of {outcome!r}", "it is 1 or 0")
        theta = tuple(_number(file, line, header[at], row[at]) for at in others)
        if not all(map(isfinite, theta)):
            _refuse(file, line, "a parameter that is not finite", "give every one")
        returned = cell(row, "return")
        value = _number(file, line, "return", returned or "nan")
        if value in (float("inf"), -float("inf")):
            _refuse(file, line, "an infinite return", "leave it empty if it broke")
        rows.append(
            _Row(
                line,
                cell(row, "policy"),
                theta,
                cell(row, "seed"),
                cell(row, "episode"),
                value,
                OUTCOMES[outcome],
            )
        )
    if not rows:
        _refuse(file, 1, "there is no row below the header", "one row is one episode")
    return tuple(header[at] for at in others), rows


def _cube(
    file: Path,
    names: tuple[str, ...],
    rows: list[_Row],
    references: tuple[str, ...],
    bounds: tuple[float, float] | None,
) -> Cube:
    """Return the rows in their places."""
    policies = list(dict.fromkeys(row.policy for row in rows))
    points = list(dict.fromkeys(row.theta for row in rows))
    point_of = {theta: at for at, theta in enumerate(points)}
    seeds: dict[str, dict[str, int]] = {name: {} for name in policies}
    cells: dict[tuple[str, str, int], dict[str, _Row]] = {}
    for row in rows:
        seeds[row.policy].setdefault(row.seed, len(seeds[row.policy]))
        cell = cells.setdefault((row.policy, row.seed, point_of[row.theta]), {})
        label = row.episode or str(len(cell))
        if label in cell:
            again = f"episode {label} of {row.policy!r} again, as in line"
            hint = "one row is one episode; other training runs have another seed"
            _refuse(file, row.line, f"{again} {cell[label].line}", hint)
        cell[label] = row
    most = max(map(len, seeds.values())), max(map(len, cells.values()))
    shape = (len(policies), most[0], len(points), most[1])
    if prod(shape) > MOST_ENTRIES:
        raise InvalidFile(
            f"{file}: policies, training seeds, points and episodes are a cube of "
            f"{' x '.join(map(str, shape))} entries, at most {MOST_ENTRIES} are read",
            hint="is there a column that is no parameter?",
        )
    returns, success = np.full(shape, nan), np.full(shape, nan)
    failures = []
    for (policy, seed, point), cell in cells.items():
        first = (policies.index(policy), seeds[policy][seed], point)
        for at, label in enumerate(_order(cell)):
            row = cell[label]
            if bounds and not (bounds[0] <= row.returned <= bounds[1]):
                _beyond_bounds(file, row, bounds)
            returns[(*first, at)], success[(*first, at)] = row.returned, row.success
            if not isfinite(row.returned):
                text = f"line {row.line} has no return"
                code = "return-missing"
                failures.append(Failure(policy, first[1], point, at, 0, code, text))
    return Cube(
        policies=tuple(policies),
        parameters=names,
        theta=np.array(points),
        inside=np.ones(len(points), dtype=bool),
        returns=returns,
        success=success if np.isfinite(success).any() else None,
        references=references,
        bounds=bounds,
        failures=tuple(failures),
        paired=rows[0].episode != "" and _same_episodes(cells, len(policies)),
    )


def _beyond_bounds(file: Path, row: _Row, bounds: tuple[float, float]) -> None:
    """Refuse a return outside what returns are said to lie between."""
    if isfinite(row.returned):  # else it broke
        said = f"it is said to be between {bounds[0]:g} and {bounds[1]:g}"
        wrong = f"{row.policy!r} returned {row.returned!r}; {said}"
        _refuse(file, row.line, wrong, "declare wider bounds, or none")


def _same_episodes(
    cells: dict[tuple[str, str, int], dict[str, _Row]], policies: int
) -> bool:
    """Return whether every policy has the same episodes at every point."""
    labels: dict[int, set[frozenset[str]]] = {}
    met: dict[int, set[str]] = {}
    for (policy, _, point), cell in cells.items():
        labels.setdefault(point, set()).add(frozenset(cell))
        met.setdefault(point, set()).add(policy)
    return all(len(each) == 1 for each in labels.values()) and all(
        len(each) == policies for each in met.values()
    )


def _order(labels: Iterable[str]) -> list[str]:
    """Return episodes by number if all are numbers, else by name."""
    names = list(labels)
    whole = all(each.isascii() and each.isdigit() for each in names)
    return sorted(names, key=int) if whole else sorted(names)


def _number(file: Path, line: int, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        _refuse(file, line, f"{name} is {text.strip()[:40]!r}", "it is a number")


def _lines(file: Path, reader: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from reader
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"{file} is not text in UTF-8", hint="save it as UTF-8"
        ) from error
    except csv.Error as error:
        line = getattr(reader, "line_num", 0)
        raise InvalidFile(
            f"{file}, line {line}: {error}", hint="is a quote open?"
        ) from error


def _refuse(file: Path, line: int, problem: str, hint: str) -> NoReturn:
    raise InvalidFile(f"{file}, line {line}: {problem}", hint=hint)
