"""What a study of a simulator leaves in its folder, and how to begin again."""

from __future__ import annotations

import shutil
from pathlib import Path

from simgap.answers.study.kinds import kinds_of
from simgap.answers.study.plan import Plan
from simgap.errors import InvalidFile
from simgap.ledger import forget_ledger
from simgap.records import read_record

PLAN, WIDTH = "plan.json", "width"
RECORDS = ("study_run", "transfer", "blame_run", "identify_run", "width_run")
FILES = (PLAN, "returns.npz", *(f"{name}.json" for name in RECORDS))


def forget(folder: Path) -> None:
    """Remove everything that a study made in a folder, and nothing else."""
    for name in (*_trainings(folder), WIDTH):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    forget_ledger(folder)


def _trainings(folder: Path) -> set[str]:
    """Return the names of the trainings that were planned."""
    known = {each.name for each in kinds_of(2, window=True)}
    path = folder / PLAN
    if not path.exists():
        return set()
    try:
        return known & {each.name for each in read_record(path, Plan).kinds}
    except InvalidFile:  # somebody changed it
        return known
