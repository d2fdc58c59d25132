"""`kernel`: compile a function on its first call and keep the machine code on disk.

Nothing is compiled at import. The cache lies beside the file of the function that is
compiled and follows it when that file changes. All kernels release the GIL, so that
threads run beside each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, overload

from numba import njit

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@overload
def kernel(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]: ...


@overload
def kernel(
    *, fastmath: frozenset[str] = ..., divides_by_zero: bool = ...
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]: ...


def kernel(
    function: Callable[..., Result] | None = None,
    *,
    fastmath: frozenset[str] = frozenset(),
    divides_by_zero: bool = False,
) -> object:
    """Return the function compiled, with the types it is written with.

    `fastmath` names the liberties that LLVM may take with floats. A kernel that
    `divides_by_zero` returns infinity or NaN there, as NumPy does; others raise.
    """
    compiled = njit(
        cache=True,
        nogil=True,
        fastmath=set(fastmath),
        error_model="numpy" if divides_by_zero else "python",
    )
    return compiled if function is None else compiled(function)
