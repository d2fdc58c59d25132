"""A command on a disk that fails: the library that makes it fail, and what it did."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from simgap.cli.app import main as program

COMPILER = shutil.which("cc") or shutil.which("gcc")
MODES = ("once-full", "once-broken", "short", "full-from-now-on")


def built(place: Path) -> Path:
    """Return the library that makes writes fail, compiled in a folder."""
    library, source = place / "failing.so", Path(__file__).with_name("disk.c")
    build = f"{COMPILER} -shared -fPIC -O1 -ldl -o".split()
    subprocess.run([*build, str(library), str(source)], check=True)
    return library


@dataclass
class Ran:
    """How a command ended."""

    status: int
    code: str
    said: str


def ran(*words: str) -> Ran:
    """Run simgap in this process, and note what it does."""
    found = Ran(0, "", "")
    explain = program._explain

    def explained(error: Exception) -> int:
        found.code = str(getattr(error, "code", type(error).__name__))
        return explain(error)

    program._explain = explained
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            found.status = program.main(words)
    finally:
        program._explain = explain
    found.said = said.getvalue()
    return found


@contextmanager
def forked() -> Iterator[int]:
    """Do the block in a process of its own."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        yield process
        os.waitpid(process, 0)
    else:
        yield 0
