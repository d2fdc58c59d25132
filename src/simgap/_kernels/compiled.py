"""`kernel`: compile a function on its first call and keep the machine code on disk.

Nothing is compiled at import; `kept_code` says where code is kept. All kernels release
the GIL, so that threads run beside each other. Several processes may compile at the
same time: what one of them keeps, the others load. A kernel that makes no arrays counts
no references (`borrowed_memory`), so that one kernel may call another in an inner loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from numba import njit
from numba.core.compiler import Compiler

from simgap._kernels import (
    compile_clock,  # noqa: F401 (it listens from now on)
    compile_news,
)
from simgap._kernels.borrowed_memory import BorrowingCompiler, allocation_error
from simgap._kernels.kept_code import KeptCode
from simgap.interrupts import delayed_interrupts

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_kernels: list[Any] = []  # every kernel of the modules that are imported


@overload
def kernel(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]: ...


@overload
def kernel(
    *,
    allocates: bool = ...,
    fastmath: frozenset[str] = ...,
    divides_by_zero: bool = ...,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]: ...


def kernel(
    function: Callable[..., Result] | None = None,
    *,
    allocates: bool = False,
    fastmath: frozenset[str] = frozenset(),
    divides_by_zero: bool = False,
) -> object:
    """Return the function compiled, with the types it is written with.

    A kernel that `allocates` makes arrays, or calls a kernel that returns one; without
    it such a kernel is refused when it is compiled. `fastmath` names the liberties that
    LLVM may take with floats. A kernel that `divides_by_zero` returns infinity or NaN
    there, as NumPy does; others raise.
    """

    def compiled(function: Callable[..., Result]) -> Any:
        found = njit(
            nogil=True,
            _nrt=allocates,
            pipeline_class=Compiler if allocates else BorrowingCompiler,
            fastmath=set(fastmath),
            error_model="numpy" if divides_by_zero else "python",
        )(function)
        found.compile = _undisturbed(found.compile, function.__name__)
        found._cache = KeptCode(function)
        _kernels.append(found)
        return found

    return compiled if function is None else compiled(function)


def compiled_of_imported() -> tuple[int, int]:
    """Return how many kernels are ready, and how many are imported."""
    return sum(1 for each in _kernels if each.signatures), len(_kernels)


def _undisturbed(
    compile_kernel: Callable[[Any], Any], name: str
) -> Callable[[Any], Any]:
    """Return the compiler with interrupts delayed: it holds locks, and drops some."""

    def compile_whole(signature: Any) -> Any:
        thread = threading.get_ident()
        outermost = thread not in compile_news.compiling
        compile_news.compiling.add(thread)
        try:
            with delayed_interrupts():
                return compile_kernel(signature)
        except Exception as error:
            if (plain := allocation_error(name, error)) is not None:
                raise plain from error
            raise
        finally:
            if outermost:
                compile_news.compiling.discard(thread)

    return compile_whole
