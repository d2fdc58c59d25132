"""Read one numpy array from a stream that is not trusted.

The header is read and checked before memory is allocated; Python objects are never
unpickled; the data must have exactly the length the header promises.
"""

from __future__ import annotations

import re
from ast import literal_eval
from typing import IO, Any

import numpy as np

from simgap.arrays import AnyArray
from simgap.errors import InvalidFile
from simgap.interop.sizes import SizeLimit, array_bytes

KINDS = "biufUS"  # booleans, whole numbers, floats, text
DESCRIPTION = re.compile(r"[<>|=]?[A-Za-z][0-9]{0,6}")
LENGTH_BYTES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # version -> size of the length
LONGEST_HEADER = 10_000
MOST_AXES = 8
CHUNK = 2**24


def read_array(
    stream: IO[bytes],
    stored: int,
    what: str,
    limit: SizeLimit,
    *,
    used: int,
    packed: int,
) -> AnyArray:
    """Return the array of an .npy stream of `stored` bytes, `packed` on disk.

    `used` counts what the other arrays of the file take of the limit already.
    """
    shape, fortran, dtype, begin = _header(stream, what)
    _check_type(dtype, what)
    size = array_bytes(shape, dtype.itemsize)
    limit.check(used + size, packed, what)
    if begin + size != stored:
        raise InvalidFile(
            f"{what} promises {shape} of {dtype}, {size} bytes, "
            f"but holds {max(stored - begin, 0)}",
            hint="the file is damaged or was cut short; make it again",
        )
    data = _exactly(stream, size, what)
    flat = np.frombuffer(data, dtype=dtype) if size else np.zeros(shape, dtype).ravel()
    array: AnyArray = flat.reshape(shape, order="F" if fortran else "C")
    return array


def _header(
    stream: IO[bytes], what: str
) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, order, type and where the data begin.

    numpy's own reader repairs headers of Python 2 and lets errors of its tokenizer
    through, so the few lines of the format are read here.
    """
    try:
        if stream.read(6) != b"\x93NUMPY":
            raise ValueError("it does not begin like one")
        version = tuple(stream.read(2))
        if version not in LENGTH_BYTES:
            raise ValueError(f"its version {version} is not known")
        width = LENGTH_BYTES[version]
        length = int.from_bytes(stream.read(width), "little")
        if length > LONGEST_HEADER:
            raise ValueError(f"its header has {length} bytes")
        text = stream.read(length)
        if len(text) != length:
            raise ValueError("its header is cut short")
        shape, fortran, dtype = _parsed(text.decode("latin1"))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InvalidFile(
            f"{what} is not a numpy array: {reason}",
            hint="write it with numpy.save or numpy.savez",
        ) from error
    return shape, fortran, dtype, 8 + width + length


def _parsed(text: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    found = literal_eval(text.strip())
    if not isinstance(found, dict) or set(found) != {"descr", "fortran_order", "shape"}:
        raise ValueError("its header is not the usual one")
    shape, fortran, descr = found["shape"], found["fortran_order"], found["descr"]
    if not isinstance(shape, tuple) or len(shape) > MOST_AXES:
        raise ValueError(f"its shape is {str(shape)[:60]}")
    for size in shape:
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise ValueError(f"its shape is {str(shape)[:60]}")
    if not isinstance(fortran, bool):
        raise ValueError("its order is neither C nor Fortran")
    if not isinstance(descr, str) or not DESCRIPTION.fullmatch(descr):
        raise ValueError(f"its type is {str(descr)[:60]}, not plain numbers or text")
    return shape, fortran, np.dtype(descr)


def _check_type(dtype: np.dtype[Any], what: str) -> None:
    if dtype.hasobject:
        raise InvalidFile(
            f"{what} holds pickled Python objects, which are never loaded",
            hint="save names as an array of strings, numbers as float64",
        )
    if (
        dtype.kind not in KINDS
        or dtype.fields is not None
        or dtype.subdtype is not None
    ):
        raise InvalidFile(
            f"{what} has type {dtype}", hint="arrays hold numbers or strings"
        )


def _exactly(stream: IO[bytes], size: int, what: str) -> bytearray:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        piece = stream.read(min(CHUNK, size - at))
        if not piece:
            raise InvalidFile(
                f"{what} ends after {at} of {size} bytes",
                hint="the file was cut short; make it again",
            )
        view[at : at + len(piece)] = piece
        at += len(piece)
    if stream.read(1):  # also makes a zip member check its checksum
        raise InvalidFile(
            f"{what} goes on after its {size} bytes", hint="the file is damaged"
        )
    return data
