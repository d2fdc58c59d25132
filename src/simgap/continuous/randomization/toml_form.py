"""The same randomization as TOML, the only form with correlation.

[randomize]
mass = "0.5..2.0"
length = 1.2
gain = { scale = "log(0.5..2)" }        # absolute, scale or offset
"body.torso.mass" = "3..4"              # a name with dots stands in quotes
[randomize.together.payload]            # Gaussian copula over the members' own laws
members = ["mass", "length"]
correlation = [[1.0, 0.7], [0.7, 1.0]]
[randomize.samples]                     # rows of a file
file = "posterior.csv"
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from math import isfinite
from typing import Any

from simgap.continuous.randomization.distributions import (
    BAD_VALUE,
    Distribution,
    Fixed,
    number_text,
)
from simgap.continuous.randomization.grammar import SYNTAX, parse_distribution
from simgap.continuous.randomization.spec import (
    BAD_GROUP,
    Group,
    Item,
    Operation,
    Randomization,
    Rows,
)
from simgap.errors import InvalidArgument
from simgap.text import shown, suggestion

WORDS = {
    "absolute": Operation.ABSOLUTE,
    "scale": Operation.SCALE,
    "offset": Operation.OFFSET,
}
BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse_toml(text: str) -> Randomization:
    """Return the randomization that a TOML text describes."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(
            f"it is not TOML: {str(error)[:200] or 'too deep'}",
            'names with dots stand in quotes: "body.torso.mass" = "0.5..2"',
        ) from error
    _only(document, ("randomize",), "the file")
    table = document.get("randomize")
    if not isinstance(table, dict):
        raise _wrong("there is no table [randomize]", "begin with [randomize]")
    items = [
        _item(name, value)
        for name, value in table.items()
        if name not in {"together", "samples"}
    ]
    groups = [_group(*pair) for pair in _table(table, "together").items()]
    samples = _table(table, "samples")
    _only(samples, ("file",), "[randomize.samples]")
    if "samples" in table and not isinstance(samples.get("file"), str):
        raise _wrong("[randomize.samples] names no file", 'write file = "rows.csv"')
    rows = Rows(samples["file"]) if samples else None
    return Randomization(tuple(items), tuple(groups), rows)


def toml_of(spec: Randomization) -> str:
    """Return the TOML text of a randomization, which reads as the same value."""
    words = {operation: word for word, operation in WORDS.items()}
    lines = ["[randomize]"]
    for item in spec.items:
        value = _quoted(item.distribution.text)
        if item.operation is not Operation.ABSOLUTE:
            value = f"{{ {words[item.operation]} = {value} }}"
        lines.append(f"{_key(item.name)} = {value}")
    for group in spec.groups:
        rows = (", ".join(map(_decimal, row)) for row in group.correlation)
        lines += [
            f"[randomize.together.{_key(group.name)}]",
            f"members = [{', '.join(map(_quoted, group.members))}]",
            f"correlation = [{', '.join(f'[{row}]' for row in rows)}]",
        ]
    if spec.rows is not None:
        lines += ["[randomize.samples]", f"file = {_quoted(spec.rows.file)}"]
    return "\n".join(lines) + "\n"


def law_of(value: object, name: str) -> Distribution:
    """Return the law that a value of a file or of Python stands for."""
    if isinstance(value, Distribution):
        return value
    if isinstance(value, str):
        return parse_distribution(value, name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if isfinite(number):
            return Fixed(number)
    raise _wrong(
        f"{shown(name)} is {shown(str(value))}",
        f'write {shown(name)} = "0.5..2", or a number',
        BAD_VALUE,
    )


def _item(name: str, value: object) -> Item:
    operation = Operation.ABSOLUTE
    if isinstance(value, dict):
        if len(value) != 1 or not set(value) <= set(WORDS):
            inner = next(iter(value), "")
            raise _wrong(
                f"{shown(name)} is a table with {shown(', '.join(value)) or 'nothing'}",
                f'write {{ scale = "0.8..1.2" }}, with one of {", ".join(WORDS)}; a '
                f'name with dots stands in quotes: "{shown(name)}.{shown(inner)}"',
            )
        ((word, value),) = value.items()
        operation = WORDS[word]
    try:
        return Item(name, law_of(value, name), operation)
    except InvalidArgument as error:
        if name in error.problem:
            raise
        raise _wrong(f"{shown(name)}: {error.problem}", error.hint, error.code) from (
            error
        )


def _group(name: str, table: object) -> Group:
    if not isinstance(table, dict):
        raise _wrong(
            f"group {shown(name)} is not a table",
            "write [randomize.together.NAME] with members and correlation",
            BAD_GROUP,
        )
    _only(table, ("members", "correlation"), f"group {shown(name)}")
    members, rows = table.get("members"), table.get("correlation")
    named = isinstance(members, list) and all(isinstance(m, str) for m in members)
    squared = isinstance(rows, list) and all(
        isinstance(row, list) and all(_is_number(entry) for entry in row)
        for row in rows
    )
    if not (named and squared):
        raise _wrong(
            f"group {shown(name)} has no members, or no correlation",
            'write members = ["mass", "length"] and correlation = [[1.0, 0.7], '
            "[0.7, 1.0]]",
            BAD_GROUP,
        )
    return Group(name, tuple(members), tuple(map(tuple, rows)))  # type: ignore[arg-type]


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise _wrong(f"{key} is a word of the file, not a parameter", f"see {key}")
    return found


def _only(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            hint = suggestion(key, known) or f"it has {', '.join(known)}"
            raise _wrong(f"{where} has an unknown {shown(key)}", hint)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _decimal(value: float) -> str:
    text = number_text(value)
    return text if {".", "e"} & set(text) else f"{text}.0"


def _wrong(problem: str, hint: str, code: str = SYNTAX) -> InvalidArgument:
    return InvalidArgument(f"randomization: {problem}", hint=hint, code=code)
