"""Finished work on disk: what was acknowledged survives a kill, and damage is noticed.

A folder has one ledger (SQLite) and one driver at a time. Rows are only ever added: a
key, what became of it, and the content; the latest row of a key counts. A row is there
whole or not at all, and for good as soon as `keep` returns. Several kinds of work in
one folder have parts of their own, each of which says first what it is about, so that a
folder of other work is refused, with what differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sys import intern
from typing import final

import msgspec

from simgap.errors import InvalidFile
from simgap.ledger import seal as sealing
from simgap.ledger.book import BESIDE, DONE, Book, Row, checked, told_plainly
from simgap.ledger.driver import driver_of, only_driver, tell_running
from simgap.ledger.seal import LEDGER
from simgap.text import listed

ABOUT = "about"
_open: dict[Path, Book] = {}  # of this process


@final
class Ledger:
    """The rows of one part of a folder."""

    def __init__(self, book: Book, part: str) -> None:
        self._book, self._part = book, part

    def find(self, key: str) -> Row | None:
        """Return the latest row of a key."""
        asked = (
            "SELECT content, status FROM rows WHERE key = ? ORDER BY place DESC LIMIT 1"
        )
        for content, status in self._book.ask(asked, (self._full(key),)):
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
        self._book.add(
            [Row(self._full(each.key), each.content, each.status) for each in rows]
        )

    def latest(self) -> Iterator[Row]:
        """Return the latest row of every key, in the order of writing."""
        asked = (
            "SELECT key, content, status FROM rows WHERE place IN (SELECT MAX(place)"
            " FROM rows WHERE key > ? AND key < ? GROUP BY key) ORDER BY place"
        )
        for key, content, status in self._book.ask(asked, self._span):
            yield Row(key[len(self._part) + 1 :], content, status)

    def statuses(self) -> dict[str, str]:
        """Return every key with the status of its latest row.

        The file is read from its beginning to its end: 10^6 rows in about a second.
        """
        asked = (
            "SELECT key, status FROM rows WHERE +key > ? AND +key < ? ORDER BY place"
        )
        head = len(self._part) + 1
        return {
            key[head:]: intern(status)
            for key, status in self._book.ask(asked, self._span)
        }

    def running(self, count: int) -> None:
        """Note how many pieces of work run now, for whoever asks."""
        tell_running(self._book.folder, count)

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

    Inside of it this process may open other parts too. What was written before is
    checked first: a damaged ledger is refused. If the part is `about` something else
    than before, that is refused as well.
    """
    place = folder.resolve()
    with only_driver(folder):
        book = _open.get(place)
        if book is not None:
            ledger = Ledger(book, part)
            _check_same(ledger, book, part, about)
            yield ledger
            return
        book = Book(folder)
        _open[place] = book
        try:
            ledger = Ledger(book, part)
            _check_same(ledger, book, part, about)
            yield ledger
        finally:
            del _open[place]
            book.close()


@contextmanager
def read_ledger(folder: Path, part: str) -> Iterator[Ledger]:
    """Open a part of a ledger to look at; a driver may be at work meanwhile."""
    if not has_ledger(folder):
        raise InvalidFile(
            f"there is no ledger in {folder}",
            hint="name the folder that --out named",
            code="no-ledger",
        )
    if driver_of(folder) is None:
        with told_plainly(folder):
            checked(folder)
    book = Book(folder, read_only=True)
    try:
        yield Ledger(book, part)
    finally:
        book.close()


def has_ledger(folder: Path) -> bool:
    """Return whether a folder has a ledger."""
    return any((folder / each).exists() for each in (LEDGER, sealing.SEAL))


def forget_ledger(folder: Path) -> None:
    """Remove the ledger of a folder, and nothing else."""
    with only_driver(folder):
        for ending in ("", *BESIDE):
            (folder / (LEDGER + ending)).unlink(missing_ok=True)
        (folder / sealing.SEAL).unlink(missing_ok=True)


def _check_same(
    ledger: Ledger, book: Book, part: str, about: Mapping[str, str] | None
) -> None:
    if about is None:
        return
    row = ledger.find("")
    if row is None:
        ledger.keep("", msgspec.json.encode(about, order="sorted"), ABOUT)
        return
    found: dict[str, str] = msgspec.json.decode(row.content)
    other = sorted(
        each for each in {*found, *about} if found.get(each) != about.get(each)
    )
    if other:
        raise holds_another(book.folder, part, other)


def holds_another(folder: Path, what: str, differing: Sequence[str]) -> InvalidFile:
    """Return what to raise about a folder of other work: what of it differs."""
    return InvalidFile(
        f"{folder} holds another {what}: {listed(differing)} differs",
        hint="repeat the command it was made with to go on, or choose another folder "
        "with --out",
        code=f"another-{what}",
    )
