"""How far a sweep is, from its ledger, and whether it comes to the same again."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from simgap.ledger import Ledger, driver_of, read_ledger
from simgap.records import (
    DifferentCell,
    Export,
    FailedCell,
    Sweep,
    Verify,
    provenance,
)
from simgap.sweeps.cells import Begin
from simgap.sweeps.engine import Engine
from simgap.sweeps.engines.local import LocalEngine
from simgap.sweeps.kept import DONE, FAILED, PART, read_answer, read_failure
from simgap.sweeps.kept_plan import plan_in
from simgap.sweeps.plan import Cell, Plan
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


def verify(
    folder: Path | str,
    *,
    cells: int = 10,
    seed: int = 0,
    engine: Engine | None = None,
) -> Verify:
    """Compute finished cells again, chosen at random, and compare every byte."""
    place = Path(folder)
    with read_ledger(place, PART) as ledger:
        plan = plan_in(ledger, place, as_it_was=True)
        state = sweep_record(plan, ledger, place)
        known = ledger.statuses()
        finished = [
            at for at, key in enumerate(plan.cell_keys()) if known.get(key) == DONE
        ]
        picked = random.Random(seed).sample(finished, min(cells, len(finished)))
        chosen = [plan.cell(at) for at in picked]
        kept = {each.key: read_answer(_content(ledger, each)) for each in chosen}
    limits = replace(plan.limits, seconds=None)  # it was fast enough, once
    different: list[DifferentCell] = []
    equal = 0
    with TemporaryDirectory() as scratch:
        machine = engine or LocalEngine()
        for ended in machine.run(chosen, Begin(scratch), plan.question, limits):
            if ended.failure is None and ended.result.numbers == kept[ended.task.key]:
                equal += 1
            else:
                different += _differences(ended, kept[ended.task.key])
    return Verify(
        cells=state.cells,
        done=state.done,
        failed=state.failed,
        running=state.running,
        checked=len(chosen),
        equal=equal,
        different=tuple(different),
        certainty={"checked": "exact", "equal": "exact"},
        provenance=provenance(command="", model=plan.file.name, latent=None, seed=seed),
    )


def _content(ledger: Ledger, cell: Cell) -> bytes:
    content = ledger.done(cell.key)
    assert content is not None  # it was there a moment ago
    return content


def _differences(ended: Any, kept: bytes) -> Iterator[DifferentCell]:
    cell, before = ended.task, msgspec.json.decode(kept)
    if ended.failure is not None:
        yield DifferentCell(
            cell=cell.key,
            axes=cell.axes,
            what="state",
            kept=DONE,
            now=ended.failure.code,
        )
        return
    now = msgspec.json.decode(ended.result.numbers)
    for part in now:
        names = now[part] if isinstance(now[part], dict) else [part]
        for name in names:
            one = before[part].get(name) if name != part else before[part]
            two = now[part].get(name) if name != part else now[part]
            if one != two:
                yield DifferentCell(
                    cell=cell.key, axes=cell.axes, what=name, kept=one, now=two
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
