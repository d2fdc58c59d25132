"""The arrays of .npy and .npz files: sizes are looked at before anything is read.

Python objects are never unpickled, and nothing is unpacked before all names are known
and the sizes that the file promises fit the limit.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from simgap.arrays import AnyArray, owned
from simgap.errors import InvalidFile, SimgapError
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
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes
KINDS = "biufUS"  # booleans, whole numbers, floats, text
HEADERS: dict[tuple[int, int], Callable[[IO[bytes]], tuple[Any, bool, np.dtype[Any]]]]
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz_arrays(
    stream: BinaryIO, path: Path, limit: SizeLimit
) -> dict[str, AnyArray]:
    """Return all arrays of an archive, each of a known name; any other is refused."""
    arrays: dict[str, AnyArray] = {}
    with _readable(path), zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        _check_names(path, [entry.filename for entry in entries])
        for entry in entries:
            if entry.compress_type not in PACKINGS:
                raise ValueError("it is packed in a way that numpy does not use")
            if entry.comment:  # a flipped bit may hide the next array in it
                raise ValueError("an array has a comment")
        limit.check(sum(entry.file_size for entry in entries), str(path))
        for entry in entries:
            key = entry.filename.removesuffix(".npy")
            with archive.open(entry) as member:
                what = f"array {key!r} of {path}"
                arrays[key] = _array(member, entry.file_size, what)
    return arrays


def read_npy_array(stream: BinaryIO, path: Path, limit: SizeLimit) -> AnyArray:
    """Return the array of an .npy file."""
    size = size_of(stream)
    limit.check(size, str(path))
    with _readable(path):
        return _array(stream, size, str(path))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Refuse a file whose reading fails, in whichever way zipfile and numpy do."""
    try:
        yield
    except SimgapError:
        raise
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InvalidFile(
            f"{path} is not a readable {path.suffix}: {reason}",
            hint="the file is damaged or of another kind; write it with numpy.savez",
        ) from error


def _array(stream: IO[bytes], stored: int, what: str) -> AnyArray:
    """Return the array of a stream of `stored` bytes, all of which belong to it."""
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise ValueError(f"arrays of version {version} are not known")
    shape, _, dtype = HEADERS[version](stream)
    if dtype.hasobject:
        raise InvalidFile(
            f"{what} holds pickled Python objects, which are never loaded",
            hint="save names as an array of strings, numbers as float64",
        )
    if dtype.kind not in KINDS or dtype.fields or dtype.subdtype:
        raise InvalidFile(
            f"{what} has type {dtype}", hint="arrays hold numbers or strings"
        )
    size = prod(shape) * dtype.itemsize
    if size != stored - stream.tell() or min(shape, default=0) < 0:
        raise InvalidFile(
            f"{what} promises {shape} of {dtype}, {size} bytes, "
            f"but holds {stored - stream.tell()}",
            hint="the file is damaged or was cut short; make it again",
        )
    stream.seek(0)
    array: AnyArray = npy.read_array(stream, allow_pickle=False)
    stream.read(1)  # at the end an archive compares its checksum
    frozen: AnyArray = owned(array)
    return frozen


def _check_names(path: Path, names: list[str]) -> None:
    for name in names:
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


def _meant(key: str) -> str:
    """Return what an unknown key was probably meant to be."""
    near = nearest(key, KEYS, cutoff=0.6)
    meant = OTHER_NAMES.get(key.lower()) or (near[0] if near else None)
    if meant is None:
        return f"a model file has the keys {', '.join(KEYS)}"
    if meant == "transitions":
        return (
            "did you mean 'transitions'? it is [..., state, action, next state]; "
            "'transitions_action_first' is [..., action, state, next state]"
        )
    return f"did you mean {meant!r}?"
