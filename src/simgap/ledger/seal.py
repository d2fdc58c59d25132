"""The seal of a ledger: what it must hold, in a small file of its own.

It counts the acknowledged rows and has the sum of their digests, so that a row that was
changed or lost is noticed. Of a ledger that was closed it has the digest of the whole
file as well. It is written in its place after every acknowledged transaction, so that
it is never ahead of the ledger: rows that it does not count yet are those that a
killed driver had written last.
"""

from __future__ import annotations

import hashlib
import os
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from simgap.errors import InvalidFile

LEDGER, SEAL = "ledger.sqlite", "ledger.seal"
FORM = struct.Struct("<8sQ16s32s")
MAGIC = b"simgap 1"
OPEN = bytes(32)  # instead of a digest: the ledger is in use, or its driver was killed
SUMS = 1 << 128


@final
@dataclass(frozen=True, slots=True)
class Seal:
    """What a ledger must hold."""

    rows: int = 0
    digests: int = 0  # sum of the digests of the rows, modulo 2^128
    whole: bytes = OPEN  # digest of the file, if it was closed

    @property
    def closed(self) -> bool:
        """Return whether the file as a whole is sealed."""
        return self.whole != OPEN

    def and_row(self, digest: bytes) -> Seal:
        """Return the seal of an open ledger with one row more."""
        added = (self.digests + int.from_bytes(digest, "little")) % SUMS
        return Seal(self.rows + 1, added)


def row_digest(place: int, key: str, status: str, content: bytes) -> bytes:
    """Return the digest of a row, 16 bytes."""
    head = f"{place}\0{key}\0{status}\0".encode()
    return hashlib.blake2b(head + content, digest_size=16).digest()


def file_digest(path: Path) -> bytes:
    """Return the digest of a whole file, 32 bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def write_seal(folder: Path, seal: Seal, *, sync: bool = False) -> None:
    """Write the seal of a folder in its place."""
    body = FORM.pack(MAGIC, seal.rows, seal.digests.to_bytes(16, "little"), seal.whole)
    text = body + hashlib.blake2b(body, digest_size=16).digest()
    handle = os.open(folder / SEAL, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _write_all(handle, text)
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, text: bytes) -> None:
    """Write a seal over the old one; if that fails, the old one is there again."""
    old = os.pread(handle, len(text), 0)
    try:
        done = 0
        while done < len(text):  # a disk may take only a part at a time
            done += os.pwrite(handle, text[done:], done)
    except OSError:
        with suppress(OSError):
            os.pwrite(handle, old, 0)
            os.ftruncate(handle, len(old))
        raise


def read_seal(folder: Path) -> Seal | None:
    """Return the seal of a folder, None if there is no such file."""
    try:
        text = (folder / SEAL).read_bytes()
    except FileNotFoundError:
        return None
    if not text and not (folder / LEDGER).exists():
        return None  # the very first write failed
    body, check = text[: FORM.size], text[FORM.size :]
    if len(body) == FORM.size:
        magic, rows, digests, whole = FORM.unpack(body)
        right = hashlib.blake2b(body, digest_size=16).digest()
        if magic == MAGIC and check == right:
            return Seal(rows, int.from_bytes(digests, "little"), whole)
    raise damaged(folder, "its seal is not whole")


def damaged(folder: Path, what: str) -> InvalidFile:
    """Return what to raise about a ledger that is not what was written."""
    return InvalidFile(
        f"the ledger of {folder} is damaged: {what}",
        hint=f"simgap resume {folder} --repair keeps every row that is whole, and what "
        "is lost is made again; or choose another folder with --out",
        code="damaged-ledger",
    )
