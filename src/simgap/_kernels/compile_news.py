"""Who is told when kernels are compiled; set without importing the compiler."""

from __future__ import annotations

from collections.abc import Callable

tell: Callable[[float], None] | None = None  # is given the seconds so far
