"""How much a file may unpack to, decided before anything is allocated."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

from simgap.errors import InvalidArgument, InvalidFile

UNKNOWN_MEMORY = 4 * 2**30  # assumed where the system does not tell


@final
@dataclass(frozen=True, slots=True)
class SizeLimit:
    """The bytes all arrays of one file may take together."""

    bytes: int

    @staticmethod
    def of(max_bytes: int | None = None) -> SizeLimit:
        """Return the caller's limit, or a quarter of the available memory."""
        if max_bytes is None:
            return SizeLimit(_available_memory() // 4)
        if isinstance(max_bytes, bool) or max_bytes < 1:
            raise InvalidArgument(
                f"max_bytes is {max_bytes}", hint="it is a whole number from 1 on"
            )
        return SizeLimit(int(max_bytes))

    def check(self, wanted: int, what: str) -> None:
        """Raise if `wanted` bytes are more than allowed."""
        if wanted > self.bytes:
            raise InvalidFile(
                f"{what} unpacks to {in_words(wanted)}, "
                f"{in_words(self.bytes)} are allowed",
                hint="for a model you trust: load_model(path, max_bytes=...)",
            )


def in_words(count: int) -> str:
    """Return a number of bytes for people."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024.0:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024.0
    return f"{size:.1f} PiB"


def _available_memory() -> int:
    """Return the bytes this process may still use, as far as the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (OSError, ValueError, IndexError):
        return UNKNOWN_MEMORY
