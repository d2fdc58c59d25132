"""Array aliases and the two things every record does with its arrays."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int32]
OffsetArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
Integer = int | np.integer[Any]


def read_only(array: npt.ArrayLike, dtype: npt.DTypeLike = np.float64) -> Any:
    """Return a C-ordered read-only array: the argument itself if it is one already.

    A writable argument is copied once, so that nobody else can change a record's data.
    An array that is read-only because it is a view of a writable one is copied too.
    """
    given = np.asarray(array)
    if (
        given.dtype == np.dtype(dtype)
        and given.flags.c_contiguous
        and not _writable_somewhere(given)
    ):
        return given
    copied = np.array(given, dtype=dtype, order="C", copy=True)
    copied.flags.writeable = False
    return copied


def owned(array: AnyArray) -> Any:
    """Freeze an array just made by the caller, without a copy."""
    array.flags.writeable = False
    return array


def aligned(shape: tuple[int, ...], fill: float = 0.0) -> FloatArray:
    """Return an array that starts at a cache line, so that rows of 16 fill two each."""
    count = int(np.prod(shape))
    room: FloatArray = np.empty(count + 8)
    skip = -(room.ctypes.data // 8) % 8
    out = room[skip : skip + count].reshape(shape)
    out[...] = fill
    return out


def digest(*parts: bytes | AnyArray) -> str:
    """Return the sha256 of the parts, each with its dtype, shape and length."""
    state = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            state.update(b"bytes:%d:" % len(part))
            state.update(part)
        else:
            array = np.ascontiguousarray(part)
            state.update(f"{array.dtype.str}:{array.shape}:".encode())
            state.update(array.data if array.size else b"")
    return state.hexdigest()


def _writable_somewhere(array: AnyArray) -> bool:
    if array.flags.writeable:
        return True
    base = array.base
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    return False
