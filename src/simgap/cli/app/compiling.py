"""The first run on a machine compiles, and says so."""

from __future__ import annotations

from collections.abc import Callable

NOTICED = 1.0  # seconds of compilation, from which on it is worth a word


def announce_compiling(say: Callable[[str], None]) -> None:
    """Say once in a while that kernels are compiled, and how many are ready."""
    from simgap._kernels import compile_news

    due = NOTICED

    def tell(seconds: float) -> None:
        nonlocal due
        if seconds >= due:
            due = 2.0 * due + 4.0
            from simgap._kernels.compiled import compiled_of_imported

            ready, known = compiled_of_imported()
            say(f"compiling once on this machine: {ready} of {known} kernels")

    compile_news.tell, compile_news.warn = tell, say
