"""The JSON Schema (draft 2020-12) of records, made by msgspec from their fields.

It is made to say what is written: every field is there, so every one is required; a
later version may add some, so that others are allowed. A float may be the text "inf" or
"-inf".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import msgspec

from simgap.intervals import Certified, Estimate, Interval
from simgap.records.record import JSON_NAMES, SCHEMA, is_flat

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = {
    "description": "A number; infinities are text.",
    "anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}],
}
IN_MEMORY = {"default": None}  # a field of any kind that is None at first: `in_memory`

Json = dict[str, Any]


def json_schema(title: str, kinds: Sequence[type]) -> Json:
    """Return the schema of an answer: a record, or one of several."""
    parts = _parts(kinds)
    names = [each.__name__ for each in kinds]
    whole = parts.pop(names[0]) if len(names) == 1 else one_of(names)
    return {"$schema": DIALECT, **whole, "title": title, "$defs": parts}


def one_of(names: Sequence[str]) -> Json:
    """Return the schema of whatever fits one of these parts."""
    return {"anyOf": [_reference(each) for each in names]}


def _parts(kinds: Sequence[type]) -> Json:
    """Return the schemas of records and of everything in them, by name."""
    _, parts = msgspec.json.schema_components(
        [*kinds, Certified, Estimate],
        schema_hook=_of_interval,
        ref_template="#/$defs/{name}",
    )
    for part in parts.values():
        part["description"] = " ".join(part["description"].split("\n\n")[0].split())
        if "properties" in part:
            part["properties"] = {
                JSON_NAMES.get(key, key): _of_field(key, found)
                for key, found in part["properties"].items()
                if found != IN_MEMORY
            }
    for kind in kinds:
        part = parts[kind.__name__]
        for each in filter(is_flat, fields(kind)):
            inside = parts[part["properties"].pop(each.name)["$ref"].rpartition("/")[2]]
            part["properties"] = inside["properties"] | part["properties"]
    for part in parts.values():
        if "properties" in part:
            part["required"] = list(part["properties"])
    return {"number": NUMBER, **parts}


def _of_field(key: str, found: Json) -> Json:
    kept = {k: v for k, v in found.items() if k != "default"}
    told: Json = _with_numbers({"const": SCHEMA} if key == "schema" else kept)
    return told


def _with_numbers(value: Any) -> Any:
    """Return a schema whose numbers may be infinite."""
    if isinstance(value, list):
        return [_with_numbers(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _with_numbers(each) for key, each in value.items()}
    if found.get("type") == "number":
        found.pop("type")
        found |= _reference("number")
    return found


def _of_interval(kind: type) -> Json:
    """Return the schema of an interval; an estimate without its number is neither."""
    if kind is not Interval:
        raise NotImplementedError
    certified = {**_reference("Certified"), "not": {"required": ["estimate"]}}
    return {"anyOf": [certified, _reference("Estimate")]}


def _reference(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}
