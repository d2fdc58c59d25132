"""The rows of a sweep in its ledger, and a thread that writes them.

While one transaction is written, further cells end; they make the next one. So every
cell is written at once, and many at a time if they are many.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread
from types import TracebackType
from typing import Any, Self, final

import msgspec

from simgap.errors import SimgapError
from simgap.interrupts import delayed_interrupts
from simgap.ledger import Ledger, Row
from simgap.sweeps.cells import WORK, Answered
from simgap.sweeps.plan import Cell
from simgap.user_files import replacing

PART = "sweep"
DONE, FAILED = "done", "failed"
FILES = "files"  # folder of what cells have made
WAITING = 10_000  # rows that are not written yet, at most


@final
@dataclass(frozen=True, slots=True)
class SavedCell:
    """A finished cell as the ledger has it."""

    answer: msgspec.Raw  # what it came to: numbers, notes, files
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class SavedFailure:
    """A cell that failed, as the ledger has it."""

    code: str
    text: str
    hint: str
    tries: int


def done_row(cell: Cell, found: Answered, folder: Path) -> Row:
    """Return the row of a finished cell; its files are written before."""
    for ending, content in found.files.items():
        place = folder / FILES
        place.mkdir(exist_ok=True)
        with replacing(place / f"{cell.key}{ending}") as draft:
            draft.write_bytes(content)
    kept = SavedCell(msgspec.Raw(found.numbers), round(found.seconds, 3))
    return Row(cell.key, msgspec.json.encode(kept), DONE)


def failed_row(cell: Cell, failure: SimgapError, tries: int) -> Row:
    """Return the row of a cell that failed."""
    kept = SavedFailure(failure.code, failure.problem, failure.hint, tries)
    return Row(cell.key, msgspec.json.encode(kept), FAILED)


def read_done(content: bytes) -> tuple[dict[str, Any], float]:
    """Return what a finished cell came to, and the seconds that it took."""
    kept = msgspec.json.decode(content, type=SavedCell)
    return msgspec.json.decode(kept.answer), kept.seconds


def read_failure(content: bytes) -> SavedFailure:
    """Return how a cell failed."""
    return msgspec.json.decode(content, type=SavedFailure)


def whole_file(folder: Path, key: str, ending: str, digest: str) -> bool:
    """Return whether a file that a cell made is there, unchanged."""
    path = folder / FILES / f"{key}{ending}"
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


@final
class Writer:
    """Writes rows as they come, in a thread of its own.

    Half-done work of a cell is removed when its row is there for good.
    """

    def __init__(self, ledger: Ledger, folder: Path) -> None:
        self._ledger, self._work_folder = ledger, folder / WORK
        self._queue: Queue[Row | None] = Queue(WAITING)
        self._error: BaseException | None = None
        self._thread = Thread(target=self._work, name="ledger", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def put(self, row: Row) -> None:
        """Hand a row over; raise what went wrong with an earlier one."""
        if self._error is not None:
            raise self._error
        self._queue.put(row)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Wait until everything is written; raise what went wrong, if nothing else."""
        with delayed_interrupts():
            self._queue.put(None)
            self._thread.join()
        if self._error is not None and not isinstance(error, SimgapError):
            raise self._error

    def _work(self) -> None:
        more = True
        while more:
            rows = [self._queue.get()]
            while not self._queue.empty():
                rows.append(self._queue.get())
            more = rows[-1] is not None
            new = [each for each in rows if each is not None]
            try:
                if self._error is None:
                    self._ledger.keep_all(new)
            except BaseException as error:  # raised where the next row is handed over
                self._error = error
            for each in new if self._error is None else ():
                shutil.rmtree(self._work_folder / each.key, ignore_errors=True)
