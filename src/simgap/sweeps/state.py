"""How far a sweep is, from its ledger."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from simgap.ledger import Ledger, driver_of, read_ledger
from simgap.records.info import Export
from simgap.records.provenance import provenance
from simgap.records.sweep import FailedCell, Sweep
from simgap.sweeps.plan import Plan
from simgap.sweeps.rows import DONE, FAILED, PART, read_failure
from simgap.sweeps.saved_plan import plan_in
from simgap.sweeps.table import TABLE, write_table

MOST_FAILURES = 100  # that a record lists


def status(folder: Path | str) -> Sweep:
    """Return how far the sweep of a folder is, also while it runs."""
    place = Path(folder)
    with read_ledger(place, PART) as ledger:
        plan = plan_in(ledger, place, as_it_was=True)
        found = sweep_record(plan, ledger, place)
    driver = driver_of(place)
    if driver is None:
        return found
    return replace(found, running=driver.running, driver=str(driver))


def export_table(folder: Path | str, file: Path | str) -> Export:
    """Write the table of a sweep, as .csv or .parquet, also while it runs."""
    place, path = Path(folder), Path(file)
    with read_ledger(place, PART) as ledger:
        plan = plan_in(ledger, place, as_it_was=True)
        write_table(plan, ledger, path)
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Export(
        path=str(file),
        hash=digest,
        bytes=path.stat().st_size,
        provenance=provenance(command="", model=plan.file.name, latent=None),
    )


def sweep_record(plan: Plan, ledger: Ledger | None, folder: Path) -> Sweep:
    """Return how far a sweep is."""
    known = {} if ledger is None else ledger.statuses()
    done, failed = 0, 0
    failures: list[FailedCell] = []
    for at, key in enumerate(plan.cell_keys()):
        state = known.get(key)
        done += state == DONE
        failed += state == FAILED
        if state == FAILED and ledger is not None and len(failures) < MOST_FAILURES:
            failures.append(_failure(ledger, key, plan.axes_at(at)))
    for key in plan.cell_keys():
        known.pop(key, None)
    dropped = sum(state == DONE for state in known.values())
    return Sweep(
        title=plan.title,
        question=plan.question.name,
        cells=plan.size,
        done=done,
        failed=failed,
        running=0,
        driver=None,
        reused=0,
        axes=plan.axes,
        columns=dict(plan.question.columns),
        settings=plan.settings,
        changes=(),
        dropped=dropped,
        failures=tuple(failures),
        cost=None,
        table=str(folder / TABLE) if (folder / TABLE).exists() else None,
        page=None,
        seconds=None,
        notes=(),
        certainty={"cells": "exact", "done": "exact", "failed": "exact"},
        provenance=provenance(command="", model=plan.file.name, latent=None),
    )


def _failure(ledger: Ledger, key: str, axes: dict[str, Any]) -> FailedCell:
    row = ledger.find(key)
    assert row is not None  # it was there a moment ago
    found = read_failure(row.content)
    return FailedCell(
        cell=key,
        axes=axes,
        code=found.code,
        text=found.text,
        hint=found.hint,
        tries=found.tries,
    )
