"""Reading parts of a record that somebody else may have written or damaged."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from simgap.errors import InvalidFile
from simgap.text import clean


def number(value: Any) -> float:
    """Return a number of a record as a float: "inf" and "-inf" are infinities."""
    if value == "inf":
        return inf
    if value == "-inf":
        return -inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise not_ours(value, "a number")
    return float(value)


def as_object(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; nothing at all is an empty one."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    raise not_ours(value, "an object")


def as_list(value: Any) -> list[Any]:
    """Return a JSON list; nothing at all is an empty one."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise not_ours(value, "a list")


def as_objects(value: Any) -> list[Mapping[str, Any]]:
    """Return a list of JSON objects."""
    return [as_object(each) for each in as_list(value)]


def as_text(value: Any) -> str:
    """Return words without anything that steers a page; nothing at all is ""."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}" if isinstance(value, float) else str(value)
    raise not_ours(value, "words")


def not_ours(value: Any, wanted: str) -> InvalidFile:
    """Return what to raise about a record of another shape."""
    return InvalidFile(
        f"the record has {str(value)[:40]!r} where {wanted} belongs",
        hint="make the record again with this version of simgap",
    )


record_number = number  # as other rooms know it
