"""Copies of arrays inside kernels.

`into[:] = values` does the same, but its error for other shapes is made of text, and
text costs seconds of compilation.
"""

from __future__ import annotations

from simgap._kernels.compiled import kernel
from simgap.arrays import AnyArray


@kernel
def copy_vector(values: AnyArray, into: AnyArray) -> None:
    """Copy (n,) into (n,); the shapes are not compared."""
    for i in range(values.shape[0]):
        into[i] = values[i]


@kernel
def copy_table(values: AnyArray, into: AnyArray) -> None:
    """Copy (n, m) into (n, m); the shapes are not compared."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            into[i, j] = values[i, j]
