"""What a study finds in its folder: its plan, and trainings that are finished."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from simgap.answers.study.plan import Plan
from simgap.answers.train.train import RECORD as TRAINED
from simgap.continuous import TrainingRecipe
from simgap.errors import InvalidFile
from simgap.ledger import forget_ledger
from simgap.records import Train, read_record, write_record
from simgap.text import listed

PLAN = "plan.json"
RECORDS = ("study_run", "transfer", "blame_run", "identify_run", "width_run")
FILES = (PLAN, "returns.npz", *(f"{name}.json" for name in RECORDS))
FOLDERS = ("width",)  # beside those of the trainings


def kept_plan(folder: Path, identity: Mapping[str, str]) -> Plan | None:
    """Return the plan of a folder, if it has one; refuse that of another study."""
    path = folder / PLAN
    if not path.exists():
        return None
    plan = read_record(path, Plan)
    other = [k for k in identity if plan.identity.get(k) != identity[k]]
    if other:
        raise InvalidFile(
            f"{folder} holds another study: {listed(other)} differs",
            hint="repeat the command it was made with to go on, choose another folder "
            "with --out, or begin again: --fresh",
            code="another-study",
        )
    return plan


def keep_plan(plan: Plan, folder: Path) -> None:
    """Write a plan, to be followed to the end."""
    write_record(plan, folder / PLAN)


def forget(folder: Path) -> None:
    """Remove everything that a study made in a folder, and nothing else."""
    path = folder / PLAN
    kinds = read_record(path, Plan).kinds if path.exists() else ()
    for name in (*(each.name for each in kinds), *FOLDERS):
        for made in folder.glob(name):
            shutil.rmtree(made, ignore_errors=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    forget_ledger(folder)


def kept_training(recipe: TrainingRecipe, seeds: Sequence[int]) -> Train | None:
    """Return the record of a training that is finished, all seeds of it."""
    path = recipe.folder / TRAINED
    if not path.exists():
        return None
    try:
        found = read_record(path, Train)
    except InvalidFile:
        return None
    rounds = recipe.settings.updates(recipe.steps) + 1
    same = [each.seed for each in found.policies] == list(seeds)
    same = same and found.steps == rounds * recipe.settings.batch
    return found if same and all(recipe.file(seed).exists() for seed in seeds) else None
