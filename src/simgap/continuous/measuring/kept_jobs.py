"""Finished jobs in the ledger of a folder: what finishes together is written together.

A write to a disk takes longer than many a job, so that finished jobs wait for each
other a moment. A run that is killed meanwhile runs those again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple, final

import msgspec
import numpy as np

from simgap.continuous.measuring.jobs import Done, Job
from simgap.ledger import Ledger, Row, opened_ledger

PART = "measurement"
TOGETHER = 0.1  # seconds that a finished job waits for others, at most


@final
class KeptJobs:
    """The finished jobs of a measurement; without a ledger there are none."""

    def __init__(self, ledger: Ledger | None) -> None:
        self._ledger, self._rows = ledger, list[Row]()
        self._since = 0.0  # when the first of the rows came

    def find(self, job: Job) -> Done | None:
        """Return what a job came to, if it is finished."""
        found = None if self._ledger is None else self._ledger.done(job.key)
        return None if found is None else _read(found)

    def keep(self, job: Job, done: Done) -> None:
        """Keep a finished job; it is written now or soon."""
        if self._ledger is None:
            return
        if not self._rows:
            self._since = monotonic()
        self._rows.append(Row(job.key, _written(done)))
        if monotonic() - self._since >= TOGETHER:
            self.write()

    def write(self) -> None:
        """Write the jobs that wait; when this returns, they are there for good."""
        rows, self._rows = self._rows, []
        if self._ledger is not None:
            self._ledger.keep_all(rows)


@contextmanager
def kept_jobs(
    folder: Path | None, identity: Mapping[str, str], part: str = PART
) -> Iterator[KeptJobs]:
    """Open the finished jobs of a measurement, which is all of a part of a ledger."""
    if folder is None:
        yield KeptJobs(None)
        return
    with opened_ledger(folder, part, identity) as ledger:
        jobs = KeptJobs(ledger)
        try:
            yield jobs
        finally:
            jobs.write()


class _Content(NamedTuple):
    shape: tuple[int, int]
    numbers: bytes
    steps: int
    clipped: float
    broken: tuple[tuple[int, int, int, str, str], ...]


def _written(done: Done) -> bytes:
    numbers = np.stack([done.returns, done.success]).tobytes()
    points, episodes = done.returns.shape
    content = _Content(
        (points, episodes), numbers, done.steps, done.clipped, done.broken
    )
    return msgspec.msgpack.encode(content)


def _read(content: bytes) -> Done:
    found = msgspec.msgpack.decode(content, type=_Content)
    returns, success = np.frombuffer(found.numbers).reshape(2, *found.shape)
    return Done(returns, success, found.steps, found.clipped, found.broken)
