"""What is whole in a damaged ledger goes into a new one."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from simgap.ledger import seal as sealing
from simgap.ledger.book import ALL, BESIDE, Book, Row
from simgap.ledger.driver import only_driver
from simgap.ledger.seal import LEDGER, row_digest

ASIDE = "ledger-damaged-{}"


def salvaged(folder: Path) -> tuple[int, Path]:
    """Return how many rows of a damaged ledger are whole, and where the old one is.

    The damaged files are moved aside, and the rows that are whole make a new ledger.
    """
    with only_driver(folder):
        number = 1
        while (aside := folder / ASIDE.format(number)).exists():
            number += 1
        aside.mkdir()
        for name in (LEDGER, *(LEDGER + each for each in BESIDE), sealing.SEAL):
            with suppress(FileNotFoundError):
                (folder / name).rename(aside / name)
        rows = _whole_rows(aside / LEDGER)
        book = Book(folder)
        try:
            book.add(rows)
        finally:
            book.close()
    return len(rows), aside


def _whole_rows(path: Path) -> list[Row]:
    """Return the rows whose digest is right, as far as SQLite can read them.

    From the first row on until it fails, then from the last one backwards.
    """
    found: dict[int, Row] = {}
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
        for question in (ALL, f"{ALL} DESC"):
            with suppress(sqlite3.Error, UnicodeDecodeError):
                for place, key, status, content, digest in connection.execute(question):
                    if place in found:
                        break
                    with suppress(TypeError, AttributeError, UnicodeError):
                        if digest == row_digest(place, key, status, content):
                            found[place] = Row(key, content, status)
    return [found[place] for place in sorted(found)]
