"""What every record has: a short form for people, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, field, fields, is_dataclass, replace
from html import escape
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from simgap.intervals import Interval
from simgap.records.provenance import Provenance, for_this_grid
from simgap.text import bracket, number, shown

SCHEMA = 1  # the form of records on disk
MOST_LINES = 20  # of the short form
MOST_OF_A_KIND = 4  # lines of one field
NOT_SHOWN = frozenset(("schema", "kind", "certainty", "provenance", "notes", "next"))
PYTHON_NAMES = {"return": "returned"}  # JSON's key, which Python keeps for itself
JSON_NAMES = {ours: theirs for theirs, ours in PYTHON_NAMES.items()}
IN_MEMORY = "in memory only"
FLAT = "written as fields of its holder"

Any_Record = TypeVar("Any_Record", bound="Record")


def in_memory() -> Any:
    """Return a field that Python users have and no file: a policy, a plan."""
    return field(default=None, repr=False, compare=False, metadata={IN_MEMORY: True})


def is_kept(each: Field[Any]) -> bool:
    """Return whether a field is written down."""
    return IN_MEMORY not in each.metadata


def flat() -> Any:
    """Return a field whose own fields are written instead of it.

    Where its holder has a field of the same name, that of the holder is written.
    """
    return field(metadata={FLAT: True})


def is_flat(each: Field[Any]) -> bool:
    """Return whether the fields of a field are written instead of it."""
    return FLAT in each.metadata


class Record:
    """The answer to one question; `simgap schema VERB` describes its fields."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        """Say of a class on a grid that its numbers are certified for this grid."""
        source = getattr(self, "provenance", None)
        if source is not None and source.grid:
            for each in fields(self):
                if is_kept(each) and not is_flat(each):
                    value = for_this_grid(getattr(self, each.name), each.name)
                    object.__setattr__(self, each.name, value)

    def __repr__(self) -> str:
        lines = [f"{name:<24} {text}" for name, text in _rows(self)]
        if len(lines) >= MOST_LINES:
            rest = len(lines) - MOST_LINES + 2
            lines = [*lines[: MOST_LINES - 2], f"and {rest} more fields"]
        return "\n".join([f"simgap {type(self).__name__}", *lines])

    def plot(self) -> Any:
        """Return the figures that the page has of this record.

        In a notebook they are drawn; `.save("page.html")` writes them as a page that
        loads nothing. A record of which the page has no figure raises InvalidArgument.
        """
        # The page stands above records and draws them: imported only when asked for.
        return import_module("simgap.report.figures").figures_of(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(text)}</td></tr>"
            for name, text in _rows(self)
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def with_command(record: Any_Record, command: str) -> Any_Record:
    """Return a record that names the command which makes it again."""
    source: Provenance = getattr(record, "provenance")  # noqa: B009 (not of all kinds)
    return replace(record, provenance=replace(source, command=command))


def _rows(record: Record) -> Iterator[tuple[str, str]]:
    for each in fields(record):
        value = getattr(record, each.name)
        if is_flat(each):
            yield from _rows(value)
        elif each.name not in NOT_SHOWN and value is not None and is_kept(each):
            if isinstance(value, tuple) and value and hasattr(value[0], "line"):
                for one in value[:MOST_OF_A_KIND]:
                    yield each.name, shown(one.line, 120)
            else:
                yield each.name, _short(value)


def _short(value: Any) -> str:
    if isinstance(value, bool | int | str):
        return shown(str(value))
    if isinstance(value, float):
        return number(value, 6)
    if isinstance(value, Interval):
        return bracket(value, 6)
    if isinstance(value, Mapping):
        return shown(", ".join(map(str, value)) or "none")
    if isinstance(value, tuple):
        if 0 < len(value) <= MOST_OF_A_KIND and isinstance(value[0], str | float | int):
            return shown(", ".join(map(_short, value)))
        kind = type(value[0]).__name__ if value else ""
        return f"{len(value)} x {kind}" if value else "none"
    if is_dataclass(value) and not isinstance(value, type):
        parts = [
            f"{each.name} {_short(getattr(value, each.name))}"
            for each in fields(value)
            if getattr(value, each.name) is not None
        ]
        return shown("; ".join(parts))
    return shown(str(value))
