"""Run the cells of a plan, or those that are missing, and keep every one of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

from simgap.errors import InvalidFile, SimgapError
from simgap.ledger import Ledger, Row, opened_ledger
from simgap.processes import Ended
from simgap.records.kept import write_record
from simgap.records.sweep import Sweep
from simgap.sweeps.cells import WORK, Begin, examples_of
from simgap.sweeps.engine import Engine, LocalEngine
from simgap.sweeps.plan import Cell, Plan
from simgap.sweeps.reading import read_plan
from simgap.sweeps.rows import (
    DONE,
    FAILED,
    PART,
    Writer,
    done_row,
    failed_row,
    read_done,
    whole_file,
)
from simgap.sweeps.saved_plan import plan_in, save_plan
from simgap.sweeps.state import sweep_record
from simgap.sweeps.table import TABLE, write_table
from simgap.text import duration
from simgap.user_files import made_folder

RECORD = "sweep.json"
STOPS = frozenset(("disk-full", "failed-write", "unwritable-folder"))  # no cell's fault
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
    wanted = read_plan(plan)
    folder = made_folder(out)
    with opened_ledger(folder, PART) as ledger:
        return _run(ledger, wanted, folder, engine, progress, again=())


def resume(
    folder: Path | str,
    *,
    engine: Engine | None = None,
    progress: Tell = lambda _: None,
) -> Sweep:
    """Run the cells that are missing in a folder; failed ones stay as they are."""
    return _again(Path(folder), engine, progress, again=())


def retry(
    folder: Path | str,
    *,
    engine: Engine | None = None,
    progress: Tell = lambda _: None,
) -> Sweep:
    """Run the cells of a folder that failed or are missing."""
    return _again(Path(folder), engine, progress, again=(FAILED,))


def _again(
    folder: Path, engine: Engine | None, progress: Tell, *, again: tuple[str, ...]
) -> Sweep:
    if not folder.is_dir():
        raise InvalidFile(
            f"there is no folder {folder}",
            hint="name the one of simgap sweep --out",
            code="no-ledger",
        )
    with opened_ledger(folder, PART) as ledger:
        plan = plan_in(ledger, folder, as_it_was=False)
        return _run(ledger, plan, folder, engine, progress, again=again)


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
    begin = monotonic()
    changes = save_plan(ledger, plan)
    missing = _missing(ledger, plan, folder, again)
    reused = sum(key not in missing for key in plan.cell_keys())
    for old in _entries(folder / WORK):
        if old.name not in missing:
            shutil.rmtree(old, ignore_errors=True)
    try:
        if missing:
            news = _News(reused, len(missing), progress)
            _run_missing(ledger, plan, folder, engine or LocalEngine(), missing, news)
    except BaseException:
        with suppress(SimgapError):  # the first error is the one to tell
            write_table(plan, ledger, folder / TABLE)
            write_record(sweep_record(plan, ledger, folder), folder / RECORD)
        raise
    write_table(plan, ledger, folder / TABLE)
    with suppress(OSError):  # not empty: failed cells of another plan
        (folder / WORK).rmdir()
    found = replace(
        sweep_record(plan, ledger, folder),
        reused=reused,
        changes=changes,
        seconds=monotonic() - begin,
    )
    write_record(found, folder / RECORD)
    return found


def _missing(
    ledger: Ledger, plan: Plan, folder: Path, again: tuple[str, ...]
) -> set[str]:
    """Return the keys of the cells to run."""
    enough = {DONE, FAILED}.difference(again)
    known = ledger.statuses()
    missing = {key for key in plan.cell_keys() if known.get(key) not in enough}
    if plan.question.name == "train":
        missing |= {
            key for key in plan.cell_keys() if not _files_there(ledger, key, folder)
        }
    return missing


def _files_there(ledger: Ledger, key: str, folder: Path) -> bool:
    """Return whether the files of a finished cell are there, unchanged."""
    content = ledger.done(key)
    files = {} if content is None else read_done(content)[0]["files"]
    return all(whole_file(folder, key, *each) for each in files.items())


def _entries(folder: Path) -> tuple[Path, ...]:
    return tuple(folder.iterdir()) if folder.is_dir() else ()


def _run_missing(
    ledger: Ledger,
    plan: Plan,
    folder: Path,
    machine: Engine,
    missing: set[str],
    news: _News,
) -> None:
    """Run cells until none is missing; each is written as it ends."""
    start = Begin(str(folder.resolve()), examples_of(plan))
    running = min(machine.workers, news.left)
    ledger.running(running)
    with Writer(ledger, folder) as writer:
        ends = machine.run(_of(plan, missing), start, plan)
        try:
            for ended in ends:
                failure = ended.failure
                if failure is not None and failure.code in STOPS:
                    raise failure
                writer.put(_row(ended, folder))
                news.tell(ended)
                if news.left < running:
                    running = news.left
                    ledger.running(running)
        finally:
            if isinstance(ends, Generator):
                ends.close()  # its processes end before the ledger is closed


def _of(plan: Plan, missing: set[str]) -> Iterator[Cell]:
    """Return the cells that are missing, each once."""
    for cell in plan.cells():
        if cell.key in missing:
            missing.discard(cell.key)
            yield cell


def _row(ended: Ended, folder: Path) -> Row:
    if ended.failure is not None:
        return failed_row(ended.task, ended.failure, ended.tries)
    return done_row(ended.task, ended.result, folder)


class _News:
    """Words about how far a sweep has come."""

    def __init__(self, reused: int, left: int, tell: Tell) -> None:
        self._reused, self.left, self._tell = reused, left, tell
        self._begin, self._fresh, self._failed = monotonic(), 0, 0

    def tell(self, ended: Ended) -> None:
        """Say how many cells are done, and how long the others take."""
        self._fresh, self.left = self._fresh + 1, self.left - 1
        self._failed += ended.failure is not None
        spent = monotonic() - self._begin
        done = self._reused + self._fresh
        failed = f", {self._failed} failed" if self._failed else ""
        self._tell(
            f"{done} of {done + self.left} cells{failed}, "
            f"{self._fresh / max(spent, 1e-9):.3g} a second, "
            f"about {duration(spent * self.left / self._fresh)} left"
        )
