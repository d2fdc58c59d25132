"""What a command and its kernels tell each other; read without the compiler."""

from __future__ import annotations

from collections.abc import Callable

tell: Callable[[float], None] | None = None  # is given the seconds so far
warn: Callable[[str], None] | None = None  # is told if code cannot be kept
compiling: set[int] = set()  # threads that compile a kernel, or load its code
command_began: float | None = None  # `perf_counter` then, if this process is one
