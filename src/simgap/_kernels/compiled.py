"""`kernel`: compile a function on its first call and keep the machine code on disk.

Nothing is compiled at import. The cache lies beside the file of the function that is
compiled and follows it when that file changes. All kernels release the GIL, so that
threads run beside each other. Several processes may compile at the same time: one of
them writes, so that none points at the code of another. Where nothing can be written
every process compiles for itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, overload

from numba import njit
from numba.core.caching import FunctionCache

from simgap._kernels import (
    compile_clock,  # noqa: F401 (it listens from now on)
    compile_news,
)
from simgap.interrupts import delayed_interrupts

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_kernels: list[Any] = []  # every kernel of the modules that are imported


class SharedCache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk, written by one process at a time."""

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code of one signature, unless the disk is full or read-only."""
        with suppress(OSError), _only_writer(Path(self.cache_path)):
            super().save_overload(sig, data)


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

    def compiled(function: Callable[..., Result]) -> Any:
        found = njit(
            nogil=True,
            fastmath=set(fastmath),
            error_model="numpy" if divides_by_zero else "python",
        )(function)
        found.compile = _undisturbed(found.compile)
        with suppress(RuntimeError):  # no place to write: compiled in every process
            found._cache = SharedCache(function)
        _kernels.append(found)
        return found

    return compiled if function is None else compiled(function)


def is_cold() -> bool:
    """Return whether no code is kept for any kernel that is imported, yet could be."""
    places = {
        Path(each._cache.cache_path)
        for each in _kernels
        if isinstance(each._cache, SharedCache)
    }
    return bool(places) and not any(next(place.glob("*.nbi"), None) for place in places)


def compiled_of_imported() -> tuple[int, int]:
    """Return how many kernels are ready, and how many are imported."""
    return sum(1 for each in _kernels if each.signatures), len(_kernels)


def _undisturbed(compile_kernel: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the compiler with interrupts delayed: it holds locks, and drops some."""

    def compile_whole(signature: Any) -> Any:
        thread = threading.get_ident()
        outermost = thread not in compile_news.compiling
        compile_news.compiling.add(thread)
        try:
            with delayed_interrupts():
                return compile_kernel(signature)
        finally:
            if outermost:
                compile_news.compiling.discard(thread)

    return compile_whole


@contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; a file system without locks is written all the same."""
    try:
        import fcntl

        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".writing", os.O_CREAT | os.O_RDWR, 0o666)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
