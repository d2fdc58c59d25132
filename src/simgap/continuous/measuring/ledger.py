"""Finished jobs on disk: what was acknowledged survives a kill.

A folder has one ledger (SQLite) and one driver at a time. A job is written when it is
finished, whole or not at all. What is measured is written first, part by part, so that
a folder of another measurement is refused, with what differs.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import msgspec
import numpy as np

from simgap.continuous.measuring.jobs import Done, Job
from simgap.errors import InvalidFile

FILE, LOCK = "ledger.sqlite", "driver.lock"


@final
class Ledger:
    """The finished jobs of a folder."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, job: Job) -> Done | None:
        """Return what a job came to, if it is finished."""
        asked = "SELECT shape, numbers, rest FROM jobs WHERE key = ?"
        row = self._connection.execute(asked, (job.key,)).fetchone()
        if row is None:
            return None
        shape, numbers, rest = row
        both = np.frombuffer(numbers).reshape(2, *msgspec.json.decode(shape))
        steps, clipped, broken = msgspec.json.decode(rest)
        return Done(both[0], both[1], steps, clipped, tuple(map(tuple, broken)))

    def keep(self, job: Job, done: Done) -> None:
        """Write a finished job; it is there for good when this returns."""
        numbers = np.stack([done.returns, done.success]).tobytes()
        rest = msgspec.json.encode((done.steps, done.clipped, done.broken))
        shape = msgspec.json.encode(done.returns.shape)
        with self._connection:
            self._connection.execute(
                "INSERT OR IGNORE INTO jobs VALUES (?, ?, ?, ?)",
                (job.key, shape, numbers, rest),
            )


@contextmanager
def opened_ledger(folder: Path, measured: Mapping[str, str]) -> Iterator[Ledger]:
    """Open the ledger of a folder for this measurement, the only driver there."""
    with only_driver(folder):
        try:
            connection = sqlite3.connect(folder / FILE)
            try:
                _prepare(connection)
                _check_same(connection, measured, folder)
                yield Ledger(connection)
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise InvalidFile(
                f"{folder / FILE} cannot be used: {error}",
                hint="choose another folder with --out, or remove that file",
                code="damaged-ledger",
            ) from error


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    with connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS jobs"
            " (key TEXT PRIMARY KEY, shape BLOB, numbers BLOB, rest BLOB)"
        )
        connection.execute(
            "CREATE TABLE IF NOT EXISTS measured (part TEXT PRIMARY KEY, value TEXT)"
        )


def _check_same(
    connection: sqlite3.Connection, measured: Mapping[str, Any], folder: Path
) -> None:
    found = dict(connection.execute("SELECT part, value FROM measured").fetchall())
    if not found:
        with connection:
            connection.executemany(
                "INSERT INTO measured VALUES (?, ?)", list(measured.items())
            )
        return
    other = [part for part in measured if found.get(part) != measured[part]]
    if other or found.keys() - measured.keys():
        raise InvalidFile(
            f"{folder} holds another measurement: "
            f"{', '.join(other or sorted(found.keys() - measured.keys()))} differs",
            hint="choose another folder with --out, or repeat the command it was "
            "made with to resume it",
            code="another-measurement",
        )


@contextmanager
def only_driver(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InvalidFile(
                f"another simgap works in {folder}",
                hint="wait for it, or choose another folder with --out",
                code="folder-in-use",
            ) from error
        yield
    finally:
        os.close(handle)
