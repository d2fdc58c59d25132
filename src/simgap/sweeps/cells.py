"""Answering one cell, in whatever process: the same cell gives the same bytes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, final

from simgap.ledger import key_of
from simgap.records import encode
from simgap.sweeps.fields import Question
from simgap.sweeps.plan import Cell
from simgap.sweeps.questions.catalogue import QUESTIONS

WORK = "unfinished"  # folder of what cells have begun, inside that of the sweep
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """What a cell came to, as it is kept."""

    numbers: bytes  # JSON: numbers with their intervals, and the codes of notes
    files: dict[str, bytes]  # ending: content
    seconds: float  # that it took; nothing else differs from run to run


@final
@dataclass(frozen=True, slots=True)
class Begin:
    """What a worker does first; other processes are sent it.

    The kernels of the questions are compiled by one worker of a machine, and the others
    wait for it and read them from the disk.
    """

    folder: str  # of the sweep
    examples: tuple[Cell, ...] = ()  # one of each kind of cell

    def __call__(self, tell: Callable[[Any], None]) -> Callable[[Cell], Answered]:
        for cell in self.examples:
            _warmed(cell)
        return self.answered

    def answered(self, cell: Cell) -> Answered:
        """Return what a cell comes to."""
        return answered(cell, Path(self.folder) / WORK / cell.key)


def answered(cell: Cell, folder: Path) -> Answered:
    """Return what a cell comes to; half-done work is kept in the folder."""
    begin = monotonic()
    question = QUESTIONS[cell.question]
    found = question.answer(cell.asked, cell.seed, str(folder))
    told = {
        "numbers": {name: found.numbers.get(name) for name in question.columns},
        "notes": sorted(set(found.notes)),
        "certified": found.certified,
        "files": {
            ending: hashlib.sha256(content).hexdigest()
            for ending, content in sorted(found.files.items())
        },
    }
    return Answered(encode(told).strip(), found.files, monotonic() - begin)


def environment_of(question: Question) -> Mapping[str, str]:
    """Return the environment of the processes that answer a question."""
    return {**QUIET, **question.environment}


def examples_of(cells: Iterator[Cell]) -> tuple[Cell, ...]:
    """Return one cell of each kind whose kernels have to be compiled."""
    found: dict[str, Cell] = {}
    for cell in cells:
        tiny = QUESTIONS[cell.question].tiny
        if tiny is None:
            return ()
        asked = dict(tiny(cell.asked))
        found.setdefault(key_of(asked), Cell("", cell.question, {}, asked, 0))
    return tuple(found.values())


def _warmed(cell: Cell) -> None:
    """Compile what a cell needs, unless a process of this machine has done so."""
    from simgap import __file__ as home

    name = key_of({"code": home, "question": cell.question, "asked": cell.asked})
    place = Path(tempfile.gettempdir()) / f"simgap-compiled-{os.getuid()}-{name}"
    with _locked(place) as done:
        if not done():
            answered(cell, place)
            place.write_text("compiled\n")


@contextmanager
def _locked(place: Path) -> Iterator[Callable[[], bool]]:
    """Hold a place for this process alone; yield whether something was done there."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(place, flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield lambda: os.fstat(handle).st_size > 0
    finally:
        os.close(handle)
