"""The file of a ledger and its seal: rows that are only added, checked when opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from typing import Any, NamedTuple, final

from simgap.errors import InvalidFile
from simgap.ledger import seal as sealing
from simgap.ledger.driver import driver_of
from simgap.ledger.places import on_network
from simgap.ledger.seal import (
    LEDGER,
    Seal,
    damaged,
    file_digest,
    read_seal,
    row_digest,
)

LOG = "-wal"  # SQLite's name for what is not in the file itself yet
BESIDE = (LOG, "-shm", "-journal")
DONE = "done"
MAKE = (
    "CREATE TABLE IF NOT EXISTS rows (place INTEGER PRIMARY KEY, key TEXT NOT NULL,"
    " status TEXT NOT NULL, content BLOB NOT NULL, digest BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS rows_by_key ON rows (key, place)",
)
ALL = "SELECT place, key, status, content, digest FROM rows ORDER BY place"
NOTHING = "SELECT 1, 1, 1, 1, 1 WHERE 0"
REFUSED = tuple(  # how the names of errors begin that say nothing of the content
    f"SQLITE_{each}"
    for each in ("FULL", "IOERR", "READONLY", "CANTOPEN", "PERM", "BUSY")
)


class Row(NamedTuple):
    """What became of a piece of work."""

    key: str
    content: bytes
    status: str = DONE


def checked(folder: Path) -> Seal:
    """Return the seal of a folder as an open one, if its ledger is what it says.

    A ledger that was closed is compared as a whole. One whose driver was killed is read
    row by row; what the driver had written last may be missing in the seal.
    """
    path, found = folder / LEDGER, read_seal(folder)
    there = path.exists()
    if found is None:
        if there:
            raise damaged(folder, "its seal is missing")
        return Seal()
    if not there:
        if found.rows:
            raise damaged(folder, f"{found.rows} rows are gone with their file")
        return Seal()
    if found.closed:
        log = folder / (LEDGER + LOG)
        if log.exists() and log.stat().st_size:
            raise damaged(folder, "there is more than was written")
        if file_digest(path) != found.whole:
            raise damaged(folder, "its file was changed")
        return Seal(found.rows, found.digests)
    with closing(sqlite3.connect(path)) as connection:
        return _read_through(connection, found, folder)


def _read_through(connection: sqlite3.Connection, seal: Seal, folder: Path) -> Seal:
    try:
        fine = connection.execute("PRAGMA integrity_check").fetchall()
        if fine != [("ok",)]:
            raise damaged(folder, str(fine[0][0]))
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        found, at_seal = Seal(), Seal()
        for place, key, status, content, digest in connection.execute(
            ALL if tables else NOTHING
        ):
            whole = digest == row_digest(place, key, status, content)
            if not whole or place != found.rows + 1:
                raise damaged(folder, f"row {place} was changed, or one before is gone")
            found = found.and_row(digest)
            if found.rows == seal.rows:
                at_seal = found
    except sqlite3.DatabaseError as error:
        if str(getattr(error, "sqlite_errorname", "")).startswith(REFUSED):
            raise
        raise damaged(folder, str(error)) from error
    if at_seal != seal:
        lost = max(0, seal.rows - found.rows)
        raise damaged(
            folder, f"{lost} acknowledged rows are gone" if lost else "rows differ"
        )
    return found


@final
class Book:
    """The file of a ledger, open, with its seal."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self._seal: Seal | None = None  # None: to be read from the file first
        self._closed = True
        with told_plainly(folder):
            if read_only:
                sealed = read_seal(folder)
                closed = sealed is not None and sealed.closed
                quiet = closed and driver_of(folder) is None
                still = "&immutable=1" if quiet else ""
                place = f"{(folder / LEDGER).resolve().as_uri()}?mode=ro{still}"
                self._connection = sqlite3.connect(place, uri=True)
                return
            self._seal = checked(folder)
            found = read_seal(folder)
            self._closed = found is not None and found.closed  # as the seal has it
            if not self._closed:
                self._open_seal()
            self._connection = sqlite3.connect(
                folder / LEDGER,
                check_same_thread=False,  # one at a time, whichever
            )
            try:
                self._prepare("truncate" if on_network(folder) else "wal")
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, journal: str) -> None:
        """Make the table if there is none; a ledger that is only asked stays closed."""
        (found,) = self._connection.execute("PRAGMA journal_mode").fetchone()
        if found != journal:
            self._open_seal()
            self._connection.execute(f"PRAGMA journal_mode = {journal}")
        self._connection.execute("PRAGMA synchronous = FULL")
        if not self._closed:
            with self._connection:
                for each in MAKE:
                    self._connection.execute(each)

    def _open_seal(self) -> None:
        """Say that the file changes from now on; before anything else is written."""
        sealing.write_seal(self.folder, self._seal or Seal(), sync=True)
        self._closed = False

    def ask(self, text: str, values: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a question."""
        with told_plainly(self.folder):
            yield from self._connection.execute(text, values)

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows in one transaction, then seal them."""
        if not rows:
            return
        with told_plainly(self.folder):
            if self._closed:
                self._open_seal()
            seal, made = self._seal or self._read_again(), []
            for key, content, status in rows:
                digest = row_digest(seal.rows + 1, key, status, content)
                seal = seal.and_row(digest)
                made.append((seal.rows, key, status, content, digest))
            self._seal = None  # until it is certain: an interrupt may come any time
            with self._connection:
                self._connection.executemany(
                    "INSERT INTO rows VALUES (?, ?, ?, ?, ?)", made
                )
            sealing.write_seal(self.folder, seal)
            self._seal = seal

    def close(self) -> None:
        """Close the file and seal it as a whole.

        If something else reads it just then, or writing failed, it stays open in its
        seal: it is read row by row the next time.
        """
        if self._closed:
            self._connection.close()
            return
        seal = self._seal
        if seal is not None:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
        log = self.folder / (LEDGER + LOG)
        if seal is None or (log.exists() and log.stat().st_size):
            return
        with suppress(OSError):
            whole = file_digest(self.folder / LEDGER)
            closed = Seal(seal.rows, seal.digests, whole)
            sealing.write_seal(self.folder, closed, sync=True)

    def _read_again(self) -> Seal:
        found = read_seal(self.folder) or Seal()
        return _read_through(self._connection, found, self.folder)


@contextmanager
def told_plainly(folder: Path) -> Iterator[None]:
    """Say in plain words what the disk or SQLite refuses."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        name = str(getattr(error, "sqlite_errorname", ""))
        if not (isinstance(error, OSError) or name.startswith(REFUSED)):
            raise damaged(folder, str(error)) from error
        full = name == "SQLITE_FULL" or getattr(error, "errno", 0) == ENOSPC
        raise InvalidFile(
            f"the ledger of {folder} cannot be written: {error}",
            hint="nothing that was finished is lost: check the free space and the "
            "permissions, then repeat the command",
            code="disk-full" if full else "failed-write",
        ) from error
