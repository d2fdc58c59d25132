"""Who is told when kernels are compiled, and who does; read without the compiler."""

from __future__ import annotations

from collections.abc import Callable

tell: Callable[[float], None] | None = None  # is given the seconds so far
warn: Callable[[str], None] | None = None  # is told if code cannot be kept
compiling: set[int] = set()  # threads that compile a kernel, or load its code
