"""The arrays of an .npz, which is a zip archive: listed, judged, then unpacked.

Nothing is unpacked before all names are known, the directory is as long as the archive
says, the sizes fit the limit, and arrays, directory and end fill the file: a byte that
belongs to none of them may be an array that a damaged directory leaves out.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from simgap.arrays import AnyArray, owned
from simgap.errors import InvalidFile
from simgap.interop.npy import read_array
from simgap.interop.sizes import SizeLimit
from simgap.text import nearest
from simgap.user_files import size_of

KERNELS = ("transitions", "transitions_action_first", "edges")
KEYS = (
    *KERNELS,
    "probabilities",
    "shape",
    "rewards",
    "prior",
    "start",
    "start_states",
    "model_names",
    "state_names",
    "action_names",
    "parameters",
    "parameter_names",
    "reward_offset",
    "reward_factor",
    "notes",
    "grid",
    "state_of_node",
)

OTHER_NAMES = {  # what arrays are called elsewhere, in lower case
    "p": "transitions",
    "t": "transitions",
    "kernel": "transitions",
    "r": "rewards",
    "mu": "start",
    "rho": "start",
    "p0": "start",
    "initial": "start",
    "nu": "prior",
    "weights": "prior",
    "names": "model_names",
    "theta": "parameters",
}

END = struct.Struct("<4s4H2LH")  # the last record of a zip, without a comment
LOCAL = struct.Struct("<4s5H3L2H")  # what stands before an array, without its name
LARGEST_DIRECTORY = 2**20  # bytes; some twenty names
AFTERWARDS = 8  # a flag: sizes follow the array, as in a file written to a pipe


def read_members(stream: BinaryIO, path: Path, limit: SizeLimit) -> dict[str, AnyArray]:
    """Return all arrays of an archive, each of a known name; any other is refused."""
    arrays: dict[str, AnyArray] = {}
    used = 0
    try:
        announced = _announced(stream, path)
        with zipfile.ZipFile(stream) as archive:
            told = sum(entry.compress_size for entry in archive.infolist())
            packed = min(told, size_of(stream))  # the directory may lie
            _check_entries(archive, path, packed, limit)
            if len(archive.infolist()) != announced:
                raise _damaged(
                    path,
                    f"it has {announced} arrays by its own count, "
                    f"and {len(archive.infolist())} can be found",
                )
            _check_filled(archive, stream, path)
            for entry in archive.infolist():
                key = entry.filename.removesuffix(".npy")
                with archive.open(entry) as member:
                    arrays[key] = read_array(
                        member,
                        entry.file_size,
                        f"array {key!r} of {path}",
                        limit,
                        used=used,
                        packed=packed,
                    )
                used += arrays[key].nbytes
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        ValueError,
        OverflowError,
    ) as error:
        raise _damaged(path, str(error) or type(error).__name__) from error
    return {key: owned(array) for key, array in arrays.items()}


def _announced(stream: BinaryIO, path: Path) -> int:
    """Return how many arrays the end of an archive announces, before they are listed.

    A flipped bit in the directory can hide an array, a forged one can list millions.
    What numpy writes has no comment, and ends of the larger kind only above 4 GiB.
    """
    size = size_of(stream)
    stream.seek(max(0, size - 20 - END.size))
    tail = stream.read(20 + END.size)
    if len(tail) < END.size:
        raise _damaged(path, "it is too short")
    sign, *_, count, directory, _, comment = END.unpack(tail[-END.size :])
    if sign != b"PK\x05\x06" or comment:
        raise _damaged(path, "it does not end as an archive of numpy does")
    large = tail.startswith(b"PK\x06\x07") and size < 2**32
    if large or count > len(KEYS) or directory > LARGEST_DIRECTORY:
        raise _damaged(path, f"its directory lists {count} arrays in {directory} bytes")
    return int(count)


def _check_filled(archive: zipfile.ZipFile, stream: BinaryIO, path: Path) -> None:
    """Refuse an archive with bytes before, between or after its arrays."""
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    begins = [entry.header_offset for entry in entries]
    at = 0
    for entry, until in zip(entries, [*begins, archive.start_dir][1:], strict=True):
        stream.seek(entry.header_offset)
        head = stream.read(LOCAL.size)
        if at != entry.header_offset or len(head) < LOCAL.size:
            raise _damaged(path, f"bytes {at} to {entry.header_offset} are no array")
        sign, _, flags, *_, name, extra = LOCAL.unpack(head)
        if sign != b"PK\x03\x04":
            raise _damaged(path, f"there is no array at byte {entry.header_offset}")
        at += LOCAL.size + name + extra + entry.compress_size
        if flags & AFTERWARDS and until - at in (16, 24):
            stream.seek(at)
            at = until if stream.read(4) == b"PK\x07\x08" else at
    if at != archive.start_dir:  # from there to the end it was listed
        raise _damaged(path, f"bytes {at} to {archive.start_dir} are no array")


def _damaged(path: Path, reason: str) -> InvalidFile:
    return InvalidFile(
        f"{path} is not a readable .npz: {reason}",
        hint="the file is damaged or of another kind; write it with numpy.savez",
    )


def _check_entries(
    archive: zipfile.ZipFile, path: Path, packed: int, limit: SizeLimit
) -> None:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    for name, entry in zip(names, entries, strict=True):
        key = name.removesuffix(".npy")
        if key == name:
            raise InvalidFile(
                f"{path} has an unknown array {name[:80]!r}: no name ending in .npy",
                hint="write the file with numpy.savez(..., transitions=P, rewards=R)",
            )
        if key not in KEYS:
            raise InvalidFile(
                f"{path} has an unknown array {key[:80]!r}", hint=_meant(key)
            )
        if names.count(name) > 1:
            raise InvalidFile(
                f"{path} has the array {key!r} twice", hint="write the file again"
            )
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InvalidFile(
                f"array {key!r} of {path} is packed in a way that numpy does not use",
                hint="write the file with numpy.savez or numpy.savez_compressed",
            )
    limit.check(sum(entry.file_size for entry in entries), packed, str(path))


def _meant(key: str) -> str:
    """Return what an unknown key was probably meant to be."""
    meant = OTHER_NAMES.get(key.lower())
    if meant is None:
        near = nearest(key, KEYS, cutoff=0.6)
        meant = near[0] if near else None
    if meant is None:
        return f"a model file has the keys {', '.join(KEYS)}"
    if meant == "transitions":
        return (
            "did you mean 'transitions'? it is [..., state, action, next state]; "
            "'transitions_action_first' is [..., action, state, next state]"
        )
    return f"did you mean {meant!r}?"
