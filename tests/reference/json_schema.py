"""A validator for the part of JSON Schema (draft 2020-12) that simgap's schemas use.

It knows no keyword silently: an unknown one is an error, so that a schema cannot say
more than is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

ANNOTATIONS = {"$schema", "$defs", "title", "description"}
KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def problems(value: Any, schema: dict[str, Any]) -> list[str]:
    """Return everything in which a value is not what a schema says, with its place."""
    return list(_problems(value, schema, schema, "$"))


def _problems(
    value: Any, schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    for keyword, told in schema.items():
        if keyword not in ANNOTATIONS:
            yield from CHECKS[keyword](value, told, schema, root, place)


def _reference(
    value: Any, told: str, schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    prefix, name = told.rsplit("/", 1)
    assert prefix == "#/$defs"
    yield from _problems(value, root["$defs"][name], root, place)


def _type(
    value: Any, told: str, schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    fits = isinstance(value, KINDS[told])
    if isinstance(value, bool) and told != "boolean":
        fits = False
    if not fits:
        yield f"{place} is {value!r:.60}, not of type {told}"


def _any_of(
    value: Any,
    told: list[Any],
    schema: dict[str, Any],
    root: dict[str, Any],
    place: str,
) -> Iterator[str]:
    tried = [list(_problems(value, each, root, place)) for each in told]
    if all(tried):
        yield f"{place} fits none of {len(told)}: {min(tried, key=len)[0]}"


def _not(
    value: Any,
    told: dict[str, Any],
    schema: dict[str, Any],
    root: dict[str, Any],
    place: str,
) -> Iterator[str]:
    if not list(_problems(value, told, root, place)):
        yield f"{place} is what it must not be: {told}"


def _const(
    value: Any, told: Any, schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    if value != told or isinstance(value, bool) != isinstance(told, bool):
        yield f"{place} is {value!r:.60}, not {told!r}"


def _enum(
    value: Any,
    told: list[Any],
    schema: dict[str, Any],
    root: dict[str, Any],
    place: str,
) -> Iterator[str]:
    if not any(value == each for each in told):
        yield f"{place} is {value!r:.60}, not one of {told}"


def _properties(
    value: Any,
    told: dict[str, Any],
    schema: dict[str, Any],
    root: dict[str, Any],
    place: str,
) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in told.items():
            if key in value:
                yield from _problems(value[key], each, root, f"{place}.{key}")


def _required(
    value: Any,
    told: list[str],
    schema: dict[str, Any],
    root: dict[str, Any],
    place: str,
) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{place} has no {key}" for key in told if key not in value)


def _others(
    value: Any,
    told: dict[str, Any],
    schema: dict[str, Any],
    root: dict[str, Any],
    place: str,
) -> Iterator[str]:
    if isinstance(value, dict):
        for key in value.keys() - schema.get("properties", {}).keys():
            yield from _problems(value[key], told, root, f"{place}.{key}")


def _items(
    value: Any, told: Any, schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    if isinstance(value, list) and told is not False:  # maxItems says so
        first = len(schema.get("prefixItems", ()))
        for at, each in enumerate(value[first:], start=first):
            yield from _problems(each, told, root, f"{place}[{at}]")


def _first_items(
    value: Any,
    told: list[Any],
    schema: dict[str, Any],
    root: dict[str, Any],
    place: str,
) -> Iterator[str]:
    if isinstance(value, list):
        for at, (each, item) in enumerate(zip(value, told, strict=False)):
            yield from _problems(each, item, root, f"{place}[{at}]")


def _least(
    value: Any, told: int, schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    if isinstance(value, list) and len(value) < told:
        yield f"{place} has {len(value)} items, fewer than {told}"


def _most(
    value: Any, told: int, schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    if isinstance(value, list) and len(value) > told:
        yield f"{place} has {len(value)} items, more than {told}"


CHECKS: dict[str, Any] = {
    "$ref": _reference,
    "type": _type,
    "anyOf": _any_of,
    "not": _not,
    "const": _const,
    "enum": _enum,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _others,
    "items": _items,
    "prefixItems": _first_items,
    "minItems": _least,
    "maxItems": _most,
}
