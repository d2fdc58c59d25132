"""Answering one cell, in whatever process: the same cell gives the same bytes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, final

from simgap.errors import InvalidFile
from simgap.ledger import key_of
from simgap.records import encode
from simgap.sweeps.fields import Found, Question
from simgap.sweeps.plan import Cell, Plan, digest_of
from simgap.sweeps.questions.catalogue import QUESTIONS

WORK = "unfinished"  # folder of what cells have begun, inside that of the sweep
ORPHANS = 60.0  # seconds that a worker may live whose driver was killed
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
        return answered(cell, self.unfinished(cell))

    def unfinished(self, cell: Cell) -> Path:
        """Return where half-done work of a cell is kept."""
        return Path(self.folder) / WORK / cell.key


def answered(cell: Cell, folder: Path) -> Answered:
    """Return what a cell comes to; half-done work is kept in the folder."""
    begin = monotonic()
    question = QUESTIONS[cell.question]
    asked = cell.asked
    if cell.inputs and cell.inputs != digest_of(asked, question.contents(asked)):
        raise InvalidFile(
            "a file that the cell names is not what it was when the sweep began",
            hint="on a cluster every machine needs the same files; repeat the command: "
            "cells whose files have changed are run again",
            code="changed-input",
        )
    found = _found(question, cell, folder)
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


def _found(question: Question, cell: Cell, folder: Path) -> Found:
    """Return the answer; wait for the worker of a killed driver, which ends soon."""
    begin = monotonic()
    while True:
        try:
            return question.answer(cell.asked, cell.seed, str(folder))
        except InvalidFile as error:
            if error.code != "folder-in-use" or monotonic() - begin > ORPHANS:
                raise
            sleep(0.2)


def environment_of(question: Question) -> Mapping[str, str]:
    """Return the environment of the processes that answer a question."""
    return {**QUIET, **question.environment}


def examples_of(plan: Plan) -> tuple[Cell, ...]:
    """Return one cell of each kind whose kernels have to be compiled."""
    question = plan.question
    if question.tiny is None:
        return ()
    every = {key_of(tiny := dict(question.tiny(e))): tiny for e in plan.kinds()}
    return tuple(Cell("", question.name, {}, each, "", 0) for each in every.values())


def _warmed(cell: Cell) -> None:
    """Compile what a cell needs, unless a process of this machine has done so."""
    from simgap import __file__ as home

    name = key_of({"code": home, "question": cell.question, "asked": cell.asked})
    place = Path(tempfile.gettempdir()) / f"simgap-compiled-{os.getuid()}-{name}"
    with suppress(Exception), _locked(place) as done:  # cells say what is wrong
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
