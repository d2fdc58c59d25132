"""Finished work on disk: what was acknowledged survives a kill.

A folder has one ledger (SQLite) and one driver at a time. Rows are only ever added: a
key, what became of it, and the content; the latest row of a key counts. A row is there
whole or not at all, and for good as soon as `keep` returns. Several kinds of work in
one folder have parts of their own, each of which says first what it is about, so that a
folder of other work is refused, with what differs.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import ENOSPC
from json import JSONEncoder
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, final

import msgspec

from simgap.errors import InvalidFile
from simgap.ledger.driver import driver_of, only_driver, write_running
from simgap.text import listed

LEDGER = "ledger.sqlite"
LOG = "-wal"  # SQLite's name for what is not in the file itself yet
BESIDE = (LOG, "-shm", "-journal")
DONE, ABOUT = "done", "about"
DIGITS = 32  # hexadecimal, of a key: 128 bits
ENCODER = JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
TABLE = (
    "CREATE TABLE IF NOT EXISTS rows (place INTEGER PRIMARY KEY, key TEXT NOT NULL,"
    " status TEXT NOT NULL, content BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS rows_by_key ON rows (key, place)",
)
WAIT = 60.0  # seconds for a reader that is in the way
MOUNTS = Path("/proc/self/mounts")
NETWORK = (
    *("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "9p"),
    *("fuse.sshfs", "fuse.gluster", "fuse.ceph", "afs", "pvfs"),
)
DISK = tuple(  # how the names of errors begin that say nothing of the content
    f"SQLITE_{each}"
    for each in ("FULL", "IOERR", "READONLY", "CANTOPEN", "PERM", "BUSY")
)
_open: dict[Path, sqlite3.Connection] = {}  # of this process


class Row(NamedTuple):
    """What became of a piece of work."""

    key: str
    content: bytes
    status: str = DONE


def key_of(parts: Mapping[str, Any]) -> str:
    """Return the name of a piece of work: a hash of all that defines it, in any order.

    Parts are made of JSON's own types: texts, numbers, lists, objects. A value that is
    not a number has no place among them.
    """
    return hashlib.sha256(ENCODER.encode(parts).encode()).hexdigest()[:DIGITS]


@final
class Ledger:
    """The rows of one part of a folder."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, part: str) -> None:
        self._connection, self._folder, self._part = connection, folder, part

    def find(self, key: str) -> Row | None:
        """Return the latest row of a key."""
        query = (
            "SELECT content, status FROM rows WHERE key = ? ORDER BY place DESC LIMIT 1"
        )
        for content, status in self._select(query, (self._full(key),)):
            return Row(key, content, status)
        return None

    def done(self, key: str) -> bytes | None:
        """Return the content of finished work, None if it is not finished."""
        row = self.find(key)
        return row.content if row is not None and row.status == DONE else None

    def keep(self, key: str, content: bytes, status: str = DONE) -> None:
        """Write a row; it is there for good when this returns."""
        self.keep_all([Row(key, content, status)])

    def keep_all(self, rows: Iterable[Row]) -> None:
        """Write several rows, all of them or none."""
        new = [(self._full(each.key), each.status, each.content) for each in rows]
        if new:
            with _disk_errors(self._folder), self._connection:
                self._connection.executemany(
                    "INSERT INTO rows (key, status, content) VALUES (?, ?, ?)", new
                )

    def latest(self) -> Iterator[Row]:
        """Return the latest row of every key, in the order of writing."""
        query = (
            "SELECT key, content, status FROM rows WHERE place IN (SELECT MAX(place)"
            " FROM rows WHERE key > ? AND key < ? GROUP BY key) ORDER BY place"
        )
        for key, content, status in self._select(query, self._span):
            yield Row(key[len(self._part) + 1 :], content, status)

    def statuses(self) -> dict[str, str]:
        """Return every key with the status of its latest row.

        The file is read from its beginning to its end: 10^6 rows in about a second.
        """
        query = (
            "SELECT key, status FROM rows WHERE +key > ? AND +key < ? ORDER BY place"
        )
        head = len(self._part) + 1
        return {
            key[head:]: intern(status)
            for key, status in self._select(query, self._span)
        }

    def running(self, count: int) -> None:
        """Note how many pieces of work run now, for whoever asks."""
        write_running(self._folder, count)

    def _select(self, query: str, values: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        with _disk_errors(self._folder):
            yield from self._connection.execute(query, values)

    def _full(self, key: str) -> str:
        return f"{self._part}/{key}"

    @property
    def _span(self) -> tuple[str, str]:
        return f"{self._part}/", f"{self._part}0"  # "0" follows "/"


@contextmanager
def opened_ledger(
    folder: Path, part: str, about: Mapping[str, str] | None = None
) -> Iterator[Ledger]:
    """Open a part of the ledger of a folder, the only driver there.

    Inside of it this process may open other parts too. A damaged ledger is refused. If
    the part is `about` something else than before, that is refused as well.
    """
    place = folder.resolve()
    with only_driver(folder):
        outer = _open.get(place)
        connection = outer or _connected(folder)
        _open[place] = connection
        try:
            ledger = Ledger(connection, folder, part)
            _check_same(ledger, folder, part, about)
            yield ledger
        finally:
            if outer is None:
                del _open[place]
                connection.close()


@contextmanager
def read_ledger(folder: Path, part: str) -> Iterator[Ledger]:
    """Open a part of a ledger to look at; a driver may be at work meanwhile."""
    if not has_ledger(folder):
        raise _none_in(folder)
    path = folder / LEDGER
    with _disk_errors(folder):
        quiet = driver_of(folder) is None
        log = path.with_name(LEDGER + LOG)
        alone = quiet and not (log.exists() and log.stat().st_size)
        place = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"
        connection = sqlite3.connect(place, uri=True, timeout=WAIT)
    try:
        with _disk_errors(folder):
            if quiet:
                _check_whole(connection, folder)
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        if not tables:  # its driver has just begun
            raise _none_in(folder)
        yield Ledger(connection, folder, part)
    finally:
        connection.close()


def has_ledger(folder: Path) -> bool:
    """Return whether a folder has a ledger."""
    return (folder / LEDGER).exists()


def forget_ledger(folder: Path) -> None:
    """Remove the ledger of a folder, and nothing else."""
    with only_driver(folder):
        for ending in ("", *BESIDE):
            (folder / (LEDGER + ending)).unlink(missing_ok=True)


def holds_another(folder: Path, what: str, differing: Sequence[str]) -> InvalidFile:
    """Return what to raise about a folder of other work: what of it differs."""
    return InvalidFile(
        f"{folder} holds another {what}: {listed(differing)} differs",
        hint="repeat the command it was made with to go on, or choose another folder "
        "with --out",
        code=f"another-{what}",
    )


def _connected(folder: Path) -> sqlite3.Connection:
    """Return a connection that writes; the table is made if there is none."""
    with _disk_errors(folder):
        connection = sqlite3.connect(
            folder / LEDGER, timeout=WAIT, check_same_thread=False
        )
        try:
            _check_whole(connection, folder)
            journal = "truncate" if _on_network(folder) else "wal"
            connection.execute(f"PRAGMA journal_mode = {journal}")
            connection.execute("PRAGMA synchronous = FULL")
            with connection:
                for each in TABLE:
                    connection.execute(each)
        except BaseException:
            connection.close()
            raise
    return connection


def _check_whole(connection: sqlite3.Connection, folder: Path) -> None:
    """Refuse a file of which SQLite itself says that it is damaged."""
    ((answer,),) = connection.execute("PRAGMA quick_check(1)")
    if answer != "ok":
        raise _damaged(folder, answer)


def _check_same(
    ledger: Ledger, folder: Path, part: str, about: Mapping[str, str] | None
) -> None:
    if about is None:
        return
    row = ledger.find("")
    if row is None:
        ledger.keep("", msgspec.json.encode(about, order="sorted"), ABOUT)
        return
    before: dict[str, str] = msgspec.json.decode(row.content)
    other = sorted(
        each for each in {*before, *about} if before.get(each) != about.get(each)
    )
    if other:
        raise holds_another(folder, part, other)


def _on_network(folder: Path) -> bool:
    """Return whether several machines share the folder: SQLite's faster journal may not
    be there."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    except OSError:  # not Linux: nobody knows
        return False
    here = folder.resolve()
    inside = [
        (len(place), kind)
        for place, kind in mounts
        if here.is_relative_to(place.encode().decode("unicode_escape"))
    ]
    return max(inside, default=(0, ""))[1].startswith(NETWORK)


def _none_in(folder: Path) -> InvalidFile:
    return InvalidFile(
        f"there is no ledger in {folder}",
        hint="name the folder that --out named",
        code="no-ledger",
    )


def _damaged(folder: Path, what: str) -> InvalidFile:
    return InvalidFile(
        f"the ledger of {folder} is damaged: {what}",
        hint=f"put back a copy of {folder / LEDGER}, or remove it and begin again; or "
        "choose another folder with --out",
        code="damaged-ledger",
    )


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    """Raise what the disk or SQLite refuses as an error of simgap."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        name = str(getattr(error, "sqlite_errorname", ""))
        if not (isinstance(error, OSError) or name.startswith(DISK)):
            raise _damaged(folder, str(error)) from error
        full = name == "SQLITE_FULL" or getattr(error, "errno", 0) == ENOSPC
        raise InvalidFile(
            f"the ledger of {folder} cannot be written: {error}",
            hint="nothing that was finished is lost: check the free space and the "
            "permissions, then repeat the command",
            code="disk-full" if full else "failed-write",
        ) from error
