"""Finished jobs in the ledger of a folder: what finishes together is written together.

A write to a disk takes longer than many a job, so that finished jobs wait for each
other a moment. A run that is killed meanwhile runs those again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, time
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

    def __init__(self, ledger: Ledger | None, *, again: bool = False) -> None:
        self._ledger, self._rows = ledger, list[Row]()
        self._again = again
        self._since = 0.0  # when the first of the rows came
        self.earlier: list[float] = []  # when jobs that were found had been run

    def find(self, job: Job) -> Done | None:
        """Return what a job came to, if it is finished; never, if all is run again."""
        if self._ledger is None or self._again:
            return None
        if (found := self._ledger.done(job.key)) is None:
            return None
        done, when = _read(found)
        self.earlier.append(when)
        return done

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
    folder: Path | None,
    identity: Mapping[str, str],
    part: str = PART,
    *,
    again: bool = False,
) -> Iterator[KeptJobs]:
    """Open the finished jobs of a measurement, which is all of a part of a ledger.

    With `again` none is found: all are run, and what they come to is kept instead.
    """
    if folder is None:
        yield KeptJobs(None)
        return
    with opened_ledger(folder, part, identity) as ledger:
        jobs = KeptJobs(ledger, again=again)
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
    when: float = 0.0  # seconds since 1970


def _written(done: Done) -> bytes:
    numbers = np.stack([done.returns, done.success]).tobytes()
    points, episodes = done.returns.shape
    content = _Content(
        (points, episodes), numbers, done.steps, done.clipped, done.broken, time()
    )
    return msgspec.msgpack.encode(content)


def _read(content: bytes) -> tuple[Done, float]:
    found = msgspec.msgpack.decode(content, type=_Content)
    returns, success = np.frombuffer(found.numbers).reshape(2, *found.shape)
    done = Done(returns, success, found.steps, found.clipped, found.broken)
    return done, found.when
