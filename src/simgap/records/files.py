"""Records as JSON: written whole, read back as what they are.

A number is a plain JSON number, infinity is the text "inf" (and "-inf"), a value that
is not a number is a defect and never written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isinf, isnan
from pathlib import Path
from typing import Any, TypeVar

from simgap.errors import InvalidFile, SimgapError
from simgap.intervals import Certified, Estimate, Interval
from simgap.records.provenance import for_this_grid
from simgap.records.record import JSON_NAMES, PYTHON_NAMES, SCHEMA, is_flat, is_kept
from simgap.text import clean, clean_json
from simgap.user_files import read_text

LARGEST_RECORD = 256 * 2**20  # bytes; a record larger than this is not one of ours

Kind = TypeVar("Kind")


def plain(value: Any) -> Any:
    """Return a value made of JSON's own types only, infinities written as text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _text(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _object(value)
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return plain(value.tolist())
    if isinstance(value, os.PathLike):
        return _text(os.fspath(value))
    raise SimgapError(
        f"a {type(value).__name__} has no place in a record",
        hint="this is a defect of simgap; please report it",
    )


def encode(record: Any, *, indent: int = 0) -> bytes:
    """Return a record as JSON in UTF-8, with a line end."""
    import msgspec

    found = plain(record)
    if isinstance(found, dict) and (found.get("provenance") or {}).get("grid"):
        found = for_this_grid(found)
    text = msgspec.json.encode(found)
    whole = msgspec.json.format(text, indent=indent) if indent else text
    return clean_json(whole.decode()).encode() + b"\n"


def read_record(path: Path, kind: type[Kind]) -> Kind:
    """Return the record of a kind that a file holds, or say why there is none."""
    return as_record(read_object(path), kind, str(path))


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or say why there is none."""
    import msgspec

    text = read_text(path, "record", most=LARGEST_RECORD)
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidFile(
            f"{path} is not a JSON record: {error}", hint="make the record again"
        ) from error
    if not isinstance(found, dict):
        raise InvalidFile(
            f"{path} holds a JSON {type(found).__name__}, not an object",
            hint="make the record again",
        )
    if found.get("schema") != SCHEMA:
        raise InvalidFile(
            f"{path} has schema {found.get('schema')!r}, this simgap reads {SCHEMA}",
            hint="make the record again with this version of simgap",
        )
    return found


def as_record(found: Mapping[str, Any], kind: type[Kind], what: str) -> Kind:
    """Return a JSON object as the record that it is; `what` names it in an error.

    Strangers may have written it: control characters in its texts are written out.
    """
    import msgspec

    try:
        return msgspec.convert(
            _cleaned(found), kind, strict=False, dec_hook=_interval
        )  # not strict: "inf" is a number
    except (msgspec.ValidationError, SimgapError) as error:
        raise InvalidFile(
            f"{what} is not a record of this version: {error}",
            hint="make the record again with this version of simgap",
            code="damaged-record",
        ) from error


def damaged_record(value: Any, wanted: str) -> InvalidFile:
    """Return what to raise about a record whose parts do not fit together."""
    return InvalidFile(
        f"the record has {str(value)[:40]!r} where {wanted} belongs",
        hint="make the record again with this version of simgap",
        code="damaged-record",
    )


def _interval(kind: type, value: Any) -> Any:
    """Return an interval, certified or estimated: estimates say so."""
    import msgspec

    if kind is not Interval:
        raise NotImplementedError(f"a record with a {kind.__name__}")
    if not isinstance(value, Mapping):
        raise InvalidFile(f"{value!r} where two ends belong")
    known = Estimate if "estimate" in value else Certified
    return msgspec.convert(value, known, strict=False)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if isinstance(value, Mapping):
        return {
            PYTHON_NAMES.get(key, clean(str(key))): _cleaned(each)
            for key, each in value.items()
        }
    return value


def _object(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(value):
        if is_flat(each):
            inside = _object(getattr(value, each.name))
            found |= {key: inside[key] for key in inside if key not in found}
        elif is_kept(each):
            name = JSON_NAMES.get(each.name, each.name)
            found[name] = plain(getattr(value, each.name))
    return found


def _number(value: float) -> float | str:
    if isnan(value):
        raise SimgapError(
            "a result is not a number (NaN), so it is not written",
            hint="this is a defect of simgap; please report the command",
        )
    if isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(value)  # numpy's floats are floats as well, but not JSON's


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:  # bytes of a file name that are not UTF-8
        return value.encode("utf-8", "backslashreplace").decode()
    return value
