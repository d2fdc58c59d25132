"""Answering one cell, in whatever process: the same cell gives the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, final

from simgap.errors import InvalidFile
from simgap.ledger import key_of
from simgap.records.files import encode
from simgap.sweeps.fields import Found, Question
from simgap.sweeps.plan import Cell, Plan, digest_of
from simgap.sweeps.questions import QUESTIONS

WORK = "unfinished"  # folder of what cells have begun, inside that of the sweep
ORPHANS = 60.0  # seconds that a worker may live whose driver was killed
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a cell, as it is saved."""

    numbers: bytes  # JSON: numbers with their intervals, and the codes of notes
    files: dict[str, bytes]  # ending: content
    seconds: float  # that it took; nothing else differs from run to run


@final
@dataclass(frozen=True, slots=True)
class Begin:
    """What a worker does first: it compiles what its cells need, which takes none of
    the time that they may take."""

    folder: str  # of the sweep
    examples: tuple[Cell, ...] = ()  # one of each kind of cell

    def __call__(self, tell: Callable[[Any], None]) -> Callable[[Cell], Answered]:
        for cell in self.examples:
            with suppress(Exception):  # the cells themselves say what is wrong
                self.answered(cell)
        return self.answered

    def answered(self, cell: Cell) -> Answered:
        """Return the answer of a cell; half-done work is in a folder of its key."""
        return answered(cell, Path(self.folder) / WORK / cell.key)


def answered(cell: Cell, folder: Path) -> Answered:
    """Return the answer of a cell; half-done work is in the folder."""
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
    answer = _answer(question, cell, folder)
    content = {
        "numbers": {name: answer.numbers.get(name) for name in question.columns},
        "notes": sorted(set(answer.notes)),
        "certified": answer.certified,
        "files": {
            ending: hashlib.sha256(file).hexdigest()
            for ending, file in sorted(answer.files.items())
        },
    }
    return Answered(encode(content).strip(), answer.files, monotonic() - begin)


def _answer(question: Question, cell: Cell, folder: Path) -> Found:
    """Wait for the worker of a killed driver, which ends soon; then answer."""
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
