"""Run the cells of a plan, or those that are missing, and keep every one of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

from simgap.errors import InvalidFile
from simgap.ledger import Ledger, Row, opened_ledger, salvaged
from simgap.processes import Ended
from simgap.records import Sweep, write_record
from simgap.sweeps.cells import WORK, Begin, examples_of
from simgap.sweeps.changes import changes_of
from simgap.sweeps.engine import Engine
from simgap.sweeps.engines.local import LocalEngine
from simgap.sweeps.kept import (
    DONE,
    FAILED,
    PART,
    PLAN,
    Writer,
    done_row,
    failed_row,
    read_done,
    whole_file,
)
from simgap.sweeps.plan import Cell, Plan, plan_of, read_plan
from simgap.sweeps.state import sweep_record
from simgap.sweeps.table import TABLE, write_table
from simgap.text import counted

RECORD = "sweep.json"
Tell = Callable[[str], None]


def sweep(
    plan: Path | str,
    *,
    out: Path | str,
    engine: Engine | None = None,
    progress: Tell = lambda _: None,
) -> Sweep:
    """Run every cell of a plan, but for those that the folder `out` has already.

    The plan is a file (TOML). What is finished is kept at once, so that a sweep that
    was stopped, however, goes on where it was. A changed plan re-uses what is still
    valid; the record says what changed. Tables are written at the end: `table.csv`.
    """
    folder = Path(out)
    wanted = read_plan(plan)
    folder.mkdir(parents=True, exist_ok=True)
    with opened_ledger(folder, PART) as ledger:
        changes = _kept_plan(ledger, wanted)
        found = _run(ledger, wanted, folder, engine, progress, again=())
        return _finished(replace(found, changes=changes), folder)


def resume(
    folder: Path | str,
    *,
    engine: Engine | None = None,
    repair: bool = False,
    progress: Tell = lambda _: None,
) -> Sweep:
    """Run the cells that are missing in a folder; failed ones stay as they are.

    With `repair`, what is whole in a damaged ledger is saved first, and what is lost is
    run again.
    """
    place = Path(folder)
    if repair:
        rows, aside = salvaged(place)
        progress(f"{counted(rows, 'row')} saved; the damaged files are in {aside}")
    return _again(place, engine, progress, again=())


def retry(
    folder: Path | str,
    *,
    engine: Engine | None = None,
    progress: Tell = lambda _: None,
) -> Sweep:
    """Run the cells of a folder that failed or are missing."""
    return _again(Path(folder), engine, progress, again=(FAILED,))


def plan_in(ledger: Ledger, folder: Path) -> Plan:
    """Return the plan that a ledger has."""
    row = ledger.find(PLAN)
    if row is None:
        raise InvalidFile(
            f"there is no sweep in {folder}",
            hint="begin one: simgap sweep plan.toml --out FOLDER; other verbs go on "
            "when their own command is repeated",
            code="no-sweep",
        )
    return plan_of(row.content, "the plan")


def _again(
    folder: Path, engine: Engine | None, progress: Tell, *, again: tuple[str, ...]
) -> Sweep:
    if not folder.is_dir():
        raise InvalidFile(f"there is no folder {folder}", hint="name the one of --out")
    with opened_ledger(folder, PART) as ledger:
        plan = plan_in(ledger, folder)
        return _finished(
            _run(ledger, plan, folder, engine, progress, again=again), folder
        )


def _kept_plan(ledger: Ledger, plan: Plan) -> tuple[str, ...]:
    """Write the plan, if it is another one; return what differs."""
    row, text = ledger.find(PLAN), plan.file.text.encode()
    if row is not None and row.content == text:
        return ()
    ledger.keep(PLAN, text, PLAN)
    return () if row is None else changes_of(plan_of(row.content, "the old plan"), plan)


def _run(
    ledger: Ledger,
    plan: Plan,
    folder: Path,
    engine: Engine | None,
    progress: Tell,
    *,
    again: tuple[str, ...],
) -> Sweep:
    """Run what is missing; write table and record, also if it is interrupted."""
    begin, machine = monotonic(), engine or LocalEngine()
    finished = {
        key
        for key, status in ledger.statuses()
        if status in {DONE, FAILED} - set(again) and key != PLAN
    }
    reused = 0
    left: list[Cell] = []
    for cell in plan.cells():
        if cell.key in finished and _files_there(ledger, cell, folder):
            reused += 1
        else:
            left.append(cell)
            finished.discard(cell.key)
    left = list({cell.key: cell for cell in left}.values())
    news = _News(plan.size, reused, progress)
    writer = Writer(ledger)
    try:
        cells = _told(left, machine.workers, ledger)
        start = Begin(str(folder.resolve()), examples_of(iter(left)))
        for ended in machine.run(cells, start, plan.question, plan.limits):
            writer.put(_row(ended, folder))
            news.tell(ended)
    finally:
        try:
            writer.close()
        finally:
            write_table(plan, ledger, folder / TABLE)
            write_record(sweep_record(plan, ledger, folder), folder / RECORD)
    for cell in left:
        shutil.rmtree(folder / WORK / cell.key, ignore_errors=True)
    found = sweep_record(plan, ledger, folder)
    return replace(found, reused=reused, seconds=monotonic() - begin)


def _finished(found: Sweep, folder: Path) -> Sweep:
    write_record(found, folder / RECORD)
    return found


def _files_there(ledger: Ledger, cell: Cell, folder: Path) -> bool:
    """Return whether the files of a finished cell are there, unchanged."""
    if cell.question != "train":
        return True
    content = ledger.done(cell.key)
    files = {} if content is None else read_done(content)[0]["files"]
    return all(whole_file(folder, cell.key, *each) for each in files.items())


def _told(cells: Iterable[Cell], workers: int, ledger: Ledger) -> Iterator[Cell]:
    """Return the cells, and say how many run."""
    for at, cell in enumerate(cells):
        ledger.running(min(at + 1, workers))
        yield cell


def _row(ended: Ended, folder: Path) -> Row:
    if ended.failure is not None:
        return failed_row(ended.task, ended.failure, ended.tries)
    return done_row(ended.task, ended.result, folder)


class _News:
    """Words about how far a sweep has come."""

    def __init__(self, cells: int, reused: int, tell: Tell) -> None:
        self._cells, self._tell, self._begin = cells, tell, monotonic()
        self._done, self._fresh, self._failed = reused, 0, 0

    def tell(self, ended: Ended) -> None:
        """Say how many cells are done, and how long the others take."""
        self._done, self._fresh = self._done + 1, self._fresh + 1
        self._failed += ended.failure is not None
        spent = monotonic() - self._begin
        left = spent * (self._cells - self._done) / self._fresh
        failed = f", {self._failed} failed" if self._failed else ""
        self._tell(
            f"{self._done} of {self._cells} cells{failed}, "
            f"{self._fresh / max(spent, 1e-9):.3g} a second, {left:.0f} s left"
        )
