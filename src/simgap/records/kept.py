"""Records that are kept: the ledger of their folder has the truth, files are copies.

An answer is found by everything that defines it. Its row in the ledger counts, its
JSON file is for people and for the page: if somebody changed it, it is written again.
Of every other record in a folder with a ledger the digest is noted, so that a change is
noticed all the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from simgap.errors import InvalidFile
from simgap.records.files import (
    LARGEST_RECORD,
    as_record,
    encode,
    plain,
    read_record,
)
from simgap.user_files import opened, replacing

ANSWERS, RECORDS = "answers", "records"  # parts of a ledger
Kind = TypeVar("Kind")


def kept_or_made(
    path: Path,
    parts: Mapping[str, Any],
    kind: type[Kind],
    make: Callable[[], Kind],
    *,
    again: bool = False,
) -> tuple[Kind, bool]:
    """Return an answer, and whether it was made just now.

    The one that the folder's ledger has for exactly these `parts`, or a new one, which
    is kept there: not if it was interrupted. The record at `path` is a copy.
    """
    from simgap.interrupts import noticed_interrupts
    from simgap.ledger import key_of, opened_ledger

    key = key_of(plain(parts))
    with opened_ledger(path.parent, ANSWERS) as ledger:
        content = None if again else ledger.done(key)
        found = None if content is None else _read(content, kind)
        if content is not None and found is not None:
            write_noted(path, content)
            return found, False
        with noticed_interrupts() as check_interrupted:
            made = make()
            check_interrupted()
        content = encode(made, indent=2)
        ledger.keep(key, content)
        write_noted(path, content)
    return made, True


def write_record(record: Any, path: Path) -> None:
    """Write a record as indented JSON; the file is replaced whole."""
    write_noted(path, encode(record, indent=2))


def write_noted(path: Path, content: bytes) -> None:
    """Write a file, whole, if it has another content; a ledger beside it notes that."""
    from simgap.ledger import has_ledger, opened_ledger

    if has_ledger(path.parent):
        digest = hashlib.sha256(content).digest()
        with opened_ledger(path.parent, RECORDS) as ledger:
            if ledger.done(path.name) != digest:
                ledger.keep(path.name, digest)
    if _digest(path) != hashlib.sha256(content).digest():
        with replacing(path) as draft:
            draft.write_bytes(content)


def read_unchanged(path: Path, kind: type[Kind]) -> Kind:
    """Return a record of a kind; one that is not what simgap wrote is refused."""
    if path.name in changed_records(path.parent):
        raise InvalidFile(
            f"{path} is not what simgap wrote",
            hint="the command that made it writes it again",
            code="changed-record",
        )
    return read_record(path, kind)


def changed_records(folder: Path) -> tuple[str, ...]:
    """Return the records of a folder that are not what simgap wrote last, by name.

    Those that are gone are among them. Of a folder without a ledger nobody knows.
    """
    from simgap.ledger import has_ledger, read_ledger

    if not has_ledger(folder):
        return ()
    with read_ledger(folder, RECORDS) as ledger:
        return tuple(
            each.key
            for each in ledger.latest()
            if each.key == Path(each.key).name  # a stranger's ledger may name others
            and _digest(folder / each.key) != each.content
        )


def _read(content: bytes, kind: type[Kind]) -> Kind | None:
    import msgspec

    try:
        return as_record(msgspec.json.decode(content), kind, "a row of the ledger")
    except InvalidFile:  # of a simgap that had the same version and other records
        return None


def _digest(path: Path) -> bytes | None:
    try:
        with opened(path, "record") as stream:
            return hashlib.sha256(stream.read(LARGEST_RECORD + 1)).digest()
    except InvalidFile:
        return None
