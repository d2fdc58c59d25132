"""What is whole in a damaged ledger goes into a new one."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from simgap.errors import InvalidFile
from simgap.ledger import seal as sealing
from simgap.ledger.book import ALL, BESIDE, Book, Row, told_plainly
from simgap.ledger.driver import only_driver
from simgap.ledger.seal import LEDGER, row_digest

ASIDE = "ledger-damaged-{}"
NEW = "new"  # folder in it, as long as the repair is not finished


def salvaged(folder: Path) -> tuple[int, Path]:
    """Return how many rows of a damaged ledger are whole, and where the old one is.

    The damaged files are moved aside, and the rows that are whole make a new ledger.
    The old seal stays until the new ledger is there: a repair that is stopped leaves a
    damaged ledger, and the next one finds all rows.
    """
    with only_driver(folder), told_plainly(folder):
        asides = list(_asides(folder))
        stopped = [each for each in asides if (each / NEW).exists()]
        if not stopped and not _parts(folder):
            raise InvalidFile(
                f"there is no ledger in {folder}",
                hint="name the folder that --out named",
                code="no-ledger",
            )
        aside = folder / ASIDE.format(len(asides) + 1)
        new, seal = aside / NEW, folder / sealing.SEAL
        new.mkdir(parents=True)
        if not seal.exists():
            seal.write_bytes(b"damaged")
        shutil.copyfile(seal, aside / sealing.SEAL)
        for part in _parts(folder):
            if part != seal:
                part.rename(aside / part.name)
        rows = list(
            dict.fromkeys(
                row for each in (*stopped, aside) for row in _whole_rows(each / LEDGER)
            )
        )
        _write(new, rows)
        (new / LEDGER).rename(folder / LEDGER)
        (new / sealing.SEAL).replace(seal)
        for each in (*stopped, aside):
            shutil.rmtree(each / NEW)
    return len(rows), aside


def _asides(folder: Path) -> Iterator[Path]:
    number = 1
    while (aside := folder / ASIDE.format(number)).exists():
        yield aside
        number += 1


def _parts(folder: Path) -> list[Path]:
    """Return the files of a ledger that are there."""
    names = (LEDGER, *(LEDGER + each for each in BESIDE), sealing.SEAL)
    return [folder / name for name in names if (folder / name).exists()]


def _write(folder: Path, rows: list[Row]) -> None:
    """Write a ledger in a folder of its own."""
    book = Book(folder)
    try:
        book.add(rows)
    finally:
        book.close()
    seal = sealing.read_seal(folder)
    if seal is None or not seal.closed:
        raise OSError("the new ledger was not written whole")


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
