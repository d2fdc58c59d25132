"""One driver at a time: a folder is held by a lock of the operating system.

The lock ends with its process, however that ends, so that none is ever left behind. The
file beside it says who holds it and how far it is, for people who ask.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from typing import final

from simgap.errors import InvalidFile

LOCK = "driver.lock"
_held: dict[Path, tuple[int, int]] = {}  # by this process: the handle, the thread


@final
@dataclass(frozen=True, slots=True)
class Driver:
    """Who works in a folder at present."""

    process: int
    host: str
    running: int = 0  # pieces of work, as of its last word

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


@contextmanager
def only_driver(folder: Path) -> Iterator[None]:
    """Hold a folder for this thread alone; inside of it, as often as it likes."""
    place = folder.resolve()
    if _held.get(place, (0, 0))[1] == get_ident():
        yield
        return
    handle = _locked(folder)
    _held[place] = handle, get_ident()
    try:
        write_running(folder, 0)
        yield
    finally:
        del _held[place]
        with suppress(OSError):
            os.ftruncate(handle, 0)
        os.close(handle)


def write_running(folder: Path, running: int) -> None:
    """Note how many pieces of work run now, for whoever asks; never fails."""
    handle, _ = _held[folder.resolve()]
    about = {"process": os.getpid(), "host": socket.gethostname(), "running": running}
    text = json.dumps(about).encode()
    with suppress(OSError):  # a full disk stops the work itself, not this word
        os.pwrite(handle, text, 0)
        os.ftruncate(handle, len(text))


def driver_of(folder: Path) -> Driver | None:
    """Return who works in a folder now; None: nobody.

    A file that a killed driver left behind is not a lock.
    """
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(handle)
    finally:
        os.close(handle)
    return None


def _locked(folder: Path) -> int:
    """Return the handle of a lock that this process has now."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InvalidFile(
            f"cannot write in {folder}: {error.strerror or error}",
            hint="choose another folder with --out, or check its permissions",
            code="unwritable-folder",
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        who = _read(handle)
        os.close(handle)
        raise InvalidFile(
            f"another simgap works in {folder}: {who}",
            hint="wait for it, or choose another folder with --out",
            code="folder-in-use",
        ) from error
    except OSError as error:
        os.close(handle)
        raise InvalidFile(
            f"{folder} cannot be locked: {error.strerror or error}",
            hint="its file system has no locks: choose a folder on another one",
            code="no-locks",
        ) from error
    return handle


def _read(handle: int) -> Driver:
    try:
        found = json.loads(os.pread(handle, 4096, 0))
        return Driver(int(found["process"]), str(found["host"]), int(found["running"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Driver(0, "an unknown host")
