"""Sealed files: named arrays and one description, in which every changed bit shows.

A sealed file is safetensors whose header carries one JSON text under the key `simgap`,
an object of three parts: `description`; `sha256`, one digest per array; and `seal`, the
digest of the first two. safetensors itself refuses files that are cut short or lie
about their shapes, but cannot see a flipped bit; the digests do. One text, because
safetensors writes several in any order and equal contents should make equal files.

Nothing in a file is trusted: sizes are checked before anything is read, the description
before any array, and what is wrong is refused by name. A seal is no signature: whoever
can write a file can seal it, so that readers still check what the parts say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar, final

import numpy as np

from simgap.arrays import AnyArray, digest
from simgap.errors import InvalidFile
from simgap.interop.sizes import SizeLimit, in_words
from simgap.user_files import check_json, size_of

LONGEST_HEADER = 100 * 2**20  # bytes; what safetensors itself allows
MOST_ENTRIES = 1_000  # values of a header beside the one text; some ten arrays

About = TypeVar("About")


@final
@dataclass(frozen=True, slots=True)
class FileKind:
    """What a kind of sealed file is called where one is refused."""

    name: str  # "policy file"
    content: str  # "policy"
    verb: str  # how such a file is made: "save"
    texts: str  # which parts of its description are text
    stranger: str  # hint for safetensors files of other programs

    @property
    def renew(self) -> str:
        """Return what to do about a file that cannot be used."""
        return f"{self.verb} the {self.content} again"

    @property
    def damaged(self) -> str:
        """Return what to do about a file whose description is broken."""
        return f"the file is damaged; copy or {self.verb} it again"


@final
@dataclass(frozen=True, slots=True)
class Sealed(Generic[About]):
    """What a file says about itself, as its seal confirms; no array is read yet."""

    kind: FileKind
    path: Path
    description: About
    sums: Mapping[str, str]  # digests of the arrays
    names: tuple[str, ...]  # of the arrays that are there

    def arrays(self, types: Mapping[str, tuple[str, ...]]) -> dict[str, AnyArray]:
        """Return all arrays, read-only, each compared with its type and its digest.

        Types are those of the numbers and how many axes there are: "int32 x 1".
        """
        with _opened(self.kind, self.path) as opened:
            arrays = {key: opened.get_tensor(key) for key in self.names}
        for key, array in arrays.items():
            found = f"{array.dtype.name} x {array.ndim}"
            if found not in types[key]:
                raise InvalidFile(
                    f"array {key!r} of {self.path} has type and axes {found}",
                    hint=f"it is {' or '.join(types[key])}; {self.kind.renew}",
                )
            if self.sums.get(key) != digest(array):
                raise InvalidFile(
                    f"array {key!r} of {self.path} does not match its sha256",
                    hint="some bits have changed; copy the file again from its source",
                )
            array.flags.writeable = False
        return arrays


def write_sealed(
    kind: FileKind, description: object, arrays: Mapping[str, AnyArray], draft: Path
) -> None:
    """Write a sealed file over one that exists already (a draft to be renamed)."""
    import msgspec
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        text = msgspec.json.encode(description)
    except UnicodeEncodeError as error:
        raise InvalidFile(
            f"{kind.texts} is not text that can be saved: {error}",
            hint="rename it; half of a surrogate pair has no UTF-8 form",
        ) from error
    whole = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
    sums = msgspec.json.encode({key: digest(each) for key, each in whole.items()})
    header = {
        "description": msgspec.Raw(text),
        "sha256": msgspec.Raw(sums),
        "seal": digest(text, sums),
    }
    metadata = {"simgap": msgspec.json.encode(header).decode()}
    try:
        save_file(whole, draft, metadata=metadata)
    except SafetensorError as error:  # a full disk comes as one of these
        raise OSError(str(error)) from error


def read_sealed(
    kind: FileKind,
    stream: BinaryIO,
    path: Path,
    limit: SizeLimit,
    about: type[About],
    check: Callable[[Any, Path], None],
) -> Sealed[About]:
    """Return the description of a file, which then gives the arrays.

    `check` sees the description first, as plain JSON and before its seal: a file of
    another version or kind is called that, and not damaged.
    """
    _check_header(kind, stream, path, limit)
    with _opened(kind, path) as opened:
        metadata, names = dict(opened.metadata() or {}), tuple(opened.keys())
    description, sums = _unsealed(kind, path, metadata, about, check)
    return Sealed(kind, path, description, sums, names)


def _check_header(
    kind: FileKind, stream: BinaryIO, path: Path, limit: SizeLimit
) -> None:
    size = size_of(stream)
    limit.check(size, str(path))
    length = int.from_bytes(stream.read(8), "little")
    if size < 8 or length > size - 8 or length > LONGEST_HEADER:
        announced = (
            f"; it announces a header of {in_words(length)}" if size >= 8 else ""
        )
        raise InvalidFile(
            f"{path} is not a {kind.name}: {size} bytes{announced}",
            hint=f"it was cut short or is of another kind; {kind.renew}",
        )
    check_json(stream.read(length), f"the header of {path}", most=MOST_ENTRIES)


@contextmanager
def _opened(kind: FileKind, path: Path) -> Iterator[Any]:
    """Yield a file open for reading; what safetensors cannot read is refused."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as opened:
            yield opened
    except (SafetensorError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise InvalidFile(
            f"{path} is damaged or not a {kind.name}: {str(error)[:200]}",
            hint=f"copy it again from its source, or {kind.renew}",
        ) from error


def _unsealed(
    kind: FileKind,
    path: Path,
    metadata: Mapping[str, str],
    about: type[About],
    check: Callable[[Any, Path], None],
) -> tuple[About, dict[str, str]]:
    import msgspec

    if "simgap" not in metadata:
        raise InvalidFile(
            f"{path} is a safetensors file without a simgap description",
            hint=kind.stranger,
        )
    check_json(metadata["simgap"].encode(), f"the description in {path}")
    try:
        header = msgspec.json.decode(metadata["simgap"], type=dict[str, msgspec.Raw])
        text, sums = bytes(header["description"]), bytes(header["sha256"])
        seal = msgspec.json.decode(header["seal"], type=str)
        check(msgspec.json.decode(text), path)
        if seal != digest(text, sums):
            raise InvalidFile(
                f"the header of {path} does not match its seal", hint=kind.damaged
            )
        description = msgspec.json.decode(text, type=about)
        return description, msgspec.json.decode(sums, type=dict[str, str])
    except (msgspec.DecodeError, KeyError, RecursionError) as error:
        raise InvalidFile(
            f"the description in {path} is not understood: {error}", hint=kind.damaged
        ) from error
