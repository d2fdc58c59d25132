"""Records on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simgap.errors import InvalidFile, SimgapError
from simgap.intervals import Certified
from simgap.records.files import as_record, encode, plain, read_object


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a JSON record"),
        (b"{", "not a JSON record"),
        (b"[1]", "not an object"),
        (b'{"schema": 2}', "schema 2"),
        (b"{}", "schema None"),
        (b'{"schema": NaN}', "not a JSON record"),
        (b"[" * 100_000, "not a JSON record"),
        (b"\xff\xfe", "not a JSON record"),
    ],
)
def test_a_file_that_is_no_record_is_refused(
    content: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=says):
        read_object(path)


def test_records_have_no_nan_and_spell_infinity() -> None:
    text = encode({"a": float("inf"), "b": [-float("inf"), 1.5], "c": None, "d": True})
    assert json.loads(text) == {"a": "inf", "b": ["-inf", 1.5], "c": None, "d": True}
    read = as_record({"lower": "-inf", "upper": "inf"}, Certified, "it")
    assert read.ends == (-float("inf"), float("inf"))
    with pytest.raises(SimgapError, match="not a number"):
        encode({"a": [float("nan")]})
    with pytest.raises(SimgapError, match="no place in a record"):
        plain({1, 2})
