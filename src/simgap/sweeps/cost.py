"""What the cells of a plan will take: a few of them are timed, and thrown away."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from simgap.ledger import has_ledger, read_ledger
from simgap.records.sweep import Sweep, SweepCost
from simgap.sweeps.cells import Begin, examples_of
from simgap.sweeps.engine import Engine, LocalEngine
from simgap.sweeps.plan import Limits, Plan
from simgap.sweeps.reading import read_plan
from simgap.sweeps.rows import DONE, FAILED, PART, done_row, read_done
from simgap.sweeps.state import sweep_record

TIMED = 6  # cells, spread over the plan
PATIENCE = 10.0  # seconds that a timed cell may take
ROW = 200  # bytes of the ledger beside the content of a row


def dry_run(
    plan: Path | str, *, out: Path | str, engine: Engine | None = None
) -> Sweep:
    """Return what a sweep would do and take; nothing is kept.

    Cells that the folder has finished tell what others take. Without any, a few are
    timed for some seconds each: one that takes longer is stopped, and the cost is "at
    least" that.
    """
    wanted, folder = read_plan(plan), Path(out)
    machine = engine or LocalEngine()
    known: dict[str, str] = {}
    times: list[float] = []
    if has_ledger(folder):
        with read_ledger(folder, PART) as ledger:
            found = sweep_record(wanted, ledger, folder)
            known = ledger.statuses()
            times = [
                read_done(row.content)[1]
                for row in ledger.latest()
                if row.status == DONE
            ]
    else:
        found = sweep_record(wanted, None, folder)
    left = [
        at
        for at, key in enumerate(wanted.cell_keys())
        if known.get(key) not in (DONE, FAILED)
    ]
    cost = _from_times(times, left, machine) if times else _timed(wanted, left, machine)
    return replace(found, cost=cost, reused=found.done)


def _from_times(times: list[float], left: list[int], machine: Engine) -> SweepCost:
    return SweepCost(
        seconds=mean(times) * len(left) / machine.workers,
        disk=None,
        measured=len(times),
        at_least=False,
    )


def _timed(plan: Plan, left: list[int], machine: Engine) -> SweepCost:
    """Return the cost from a few cells that are run and thrown away."""
    step = max(1, len(left) // TIMED)
    few = [plan.cell(at) for at in left[::step][:TIMED]]
    times, sizes, at_least = [], [], False
    limits = Limits(seconds=PATIENCE, memory=plan.limits.memory, tries=1)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        begin = Begin(scratch, examples_of(plan))
        here = LocalEngine(min(machine.workers, len(os.sched_getaffinity(0))))
        for ended in here.run(few, begin, replace(plan, limits=limits)):
            if ended.failure is None:
                times.append(ended.result.seconds)
                row = done_row(ended.task, ended.result, folder)
                files = sum(len(each) for each in ended.result.files.values())
                sizes.append(ROW + len(row.content) + files)
            elif ended.failure.code == "time-limit":
                at_least = True
                times.append(PATIENCE)
    return SweepCost(
        seconds=mean(times) * len(left) / machine.workers if times else None,
        disk=round(mean(sizes) * len(left)) if sizes else None,
        measured=len(times),
        at_least=at_least,
    )
