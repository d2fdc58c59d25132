"""Sealed files: what goes in comes out, and every change is refused by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from simgap.arrays import AnyArray, digest
from simgap.errors import InvalidFile
from simgap.interop.sealed import FileKind, Sealed, read_sealed, write_sealed
from simgap.interop.sizes import SizeLimit
from simgap.policies import MarkovPolicy, load_policy, save_policy

KIND = FileKind(
    name="letter",
    content="note",
    verb="write",
    texts="the title",
    stranger="it is no letter",
)
TYPES = {"numbers": ("float64 x 1", "float64 x 2"), "empty": ("int32 x 1",)}
ARRAYS = {"numbers": np.array([1.0, -0.0, 3.5]), "empty": np.zeros(0, np.int32)}


@final
@dataclass(frozen=True, slots=True)
class About:
    title: str
    pages: int = 1


def accept(description: Any, path: Path) -> None:
    """Ask nothing of a description."""


def read(path: Path) -> Sealed[About]:
    with path.open("rb") as stream:
        return read_sealed(KIND, stream, path, SizeLimit.of(None), About, accept)


def sealed(
    folder: Path, about: object = About("hello", 3), arrays: Any = ARRAYS
) -> Path:
    path = folder / "letter"
    write_sealed(KIND, about, arrays, path)
    return path


def rewritten(path: Path, header: Mapping[str, object]) -> Path:
    """Write the same arrays under another header."""
    text = msgspec.json.encode(header).decode()
    save_file(dict(load_file(path)), path, metadata={"simgap": text})
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    letter = read(sealed(tmp_path))
    assert letter.description == About("hello", 3)
    arrays = letter.arrays(TYPES)
    assert set(arrays) == set(letter.names) == set(ARRAYS)
    for key, array in arrays.items():
        assert array.dtype == ARRAYS[key].dtype
        assert array.tobytes() == ARRAYS[key].tobytes()
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_arrays_in_any_order_of_memory_make_the_same_file(tmp_path: Path) -> None:
    table = np.arange(6.0).reshape(2, 3)
    one = sealed(tmp_path, arrays={"numbers": table}).read_bytes()
    other = sealed(tmp_path, arrays={"numbers": np.asfortranarray(table)})
    assert other.read_bytes() == one


def test_an_array_has_one_of_its_types(tmp_path: Path) -> None:
    wrong: tuple[AnyArray, ...] = (
        np.zeros(3, np.float32),
        np.zeros(3, np.int64),
        np.zeros((1, 1, 1)),
    )
    for array in wrong:
        letter = read(sealed(tmp_path, arrays={"numbers": array}))
        with pytest.raises(InvalidFile, match="type and axes") as caught:
            letter.arrays(TYPES)
        assert "float64 x 1 or float64 x 2; write the note again" in caught.value.hint


def test_an_array_that_was_exchanged_or_has_no_digest_is_found(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    metadata = header_of(path)
    for arrays in (
        ARRAYS | {"numbers": np.array([1.0, 0.0, 3.5])},  # not -0.0
        ARRAYS | {"numbers": ARRAYS["numbers"][None]},  # another shape
        ARRAYS | {"more": np.zeros(1)},
    ):
        save_file(arrays, path, metadata={"simgap": metadata})
        with pytest.raises(InvalidFile, match="does not match its sha256"):
            read(path).arrays(TYPES | {"more": ("float64 x 1",)})


def header_of(path: Path) -> str:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as opened:
        return str(opened.metadata()["simgap"])


def test_a_description_is_what_its_seal_says(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    header = msgspec.json.decode(header_of(path))
    header["description"]["pages"] = 4
    with pytest.raises(InvalidFile, match="does not match its seal"):
        read(rewritten(path, header))


@pytest.mark.parametrize("missing", ["description", "sha256", "seal"])
def test_a_header_with_a_part_missing_is_not_understood(
    missing: str, tmp_path: Path
) -> None:
    path = sealed(tmp_path)
    header = msgspec.json.decode(header_of(path))
    del header[missing]
    with pytest.raises(InvalidFile, match="not understood") as caught:
        read(rewritten(path, header))
    assert caught.value.hint == "the file is damaged; copy or write it again"


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "null", '{"description":', "[" * 100_000, '{"seal":{}}']
)
def test_a_header_that_is_something_else_is_not_understood(
    text: str, tmp_path: Path
) -> None:
    path = sealed(tmp_path)
    save_file(ARRAYS, path, metadata={"simgap": text})
    with pytest.raises(InvalidFile, match="not understood"):
        read(path)


def test_a_sealed_description_of_another_shape_is_not_understood(
    tmp_path: Path,
) -> None:
    for about in ({"pages": 3}, {"title": 5}, ["hello"], "hello", None):
        with pytest.raises(InvalidFile, match="not understood"):
            read(sealed(tmp_path, about))


def test_a_description_is_checked_before_its_seal_and_before_any_array(
    tmp_path: Path,
) -> None:
    """A file of a later version is called that, whatever else is new in it."""

    def refuse(description: Any, path: Path) -> None:
        assert description == {"title": "hello", "pages": 3}
        raise InvalidFile("of a later version")

    path = sealed(tmp_path)
    header = msgspec.json.decode(header_of(path)) | {"seal": digest(b"another rule")}
    rewritten(path, header)
    with (
        path.open("rb") as stream,
        pytest.raises(InvalidFile, match="of a later version"),
    ):
        read_sealed(KIND, stream, path, SizeLimit.of(None), About, refuse)


def test_a_header_may_be_long_but_not_longer_than_the_file(tmp_path: Path) -> None:
    path = sealed(tmp_path, About("x" * 10**6))
    assert len(read(path).description.title) == 10**6
    content = path.read_bytes()
    for length in (len(content) - 7, 2**40, 2**63, 2**64 - 1):
        path.write_bytes(length.to_bytes(8, "little") + content[8:])
        with pytest.raises(InvalidFile, match=r"is not a letter.*announces a header"):
            read(path)


def test_text_without_a_form_on_disk_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="the title is not text"):
        sealed(tmp_path, About("\ud800"))
    policy = MarkovPolicy("\ud800", 2, np.zeros(3, np.int32))
    with pytest.raises(InvalidFile, match="the name of the policy is not text"):
        save_policy(policy, tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_sealed(KIND, About("hello"), ARRAYS, tmp_path / "nowhere" / "letter")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Opening a pipe that nobody writes to would hang."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidFile, match="is not a regular file"):
        load_policy(tmp_path / "pipe")
