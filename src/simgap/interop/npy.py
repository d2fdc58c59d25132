"""Read one numpy array from a stream that nobody vouches for.

The header is read and judged before memory is asked for; Python objects are never
unpickled; the data must have exactly the length the header promises.
"""

from __future__ import annotations

from typing import IO, Any

import numpy as np

from simgap.arrays import AnyArray
from simgap.errors import InvalidFile
from simgap.interop.sizes import SizeLimit, array_bytes

KINDS = "biufUS"  # booleans, whole numbers, floats, text
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
    from numpy.lib import format as npy

    try:
        major, minor = npy.read_magic(stream)
        if (major, minor) == (1, 0):
            shape, fortran, dtype = npy.read_array_header_1_0(stream)
        elif (major, minor) == (2, 0):
            shape, fortran, dtype = npy.read_array_header_2_0(stream)
        else:
            raise ValueError(f"npy version {major}.{minor} is not read here")
        begin = stream.tell()
    except (ValueError, TypeError, SyntaxError, OverflowError, RecursionError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InvalidFile(
            f"{what} is not a numpy array: {reason}",
            hint="write it with numpy.save or numpy.savez",
        ) from error
    if len(shape) > MOST_AXES or any(size < 0 for size in shape):
        raise InvalidFile(
            f"{what} claims the shape {shape}",
            hint="the file is damaged; make it again",
        )
    return shape, fortran, dtype, begin


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
