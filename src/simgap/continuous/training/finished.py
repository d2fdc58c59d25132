"""Finished trainings in the ledgers of their folders: none is run twice.

A row has what a training came to and the digest of its policy's file. If that file is
gone or was changed, it is written again from the last checkpoint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from simgap.continuous.training.checkpoint import MACHINE
from simgap.continuous.training.seeds import (
    Job,
    TrainedSeed,
    TrainingRecipe,
    train_all,
)
from simgap.continuous.training.trainer import Outcome
from simgap.interrupts import noticed_interrupts
from simgap.ledger import Ledger, key_of, opened_ledger

PART = "training"


def finished_trainings(
    jobs: Sequence[Job],
    *,
    workers: int,
    tell: Callable[[str], None],
    met: Callable[[TrainedSeed, bool], None] = lambda one, fresh: None,
) -> list[TrainedSeed]:
    """Return trainings, those that came before them among them, all finished.

    A folder holds one training and any number of its seeds: another one is refused.
    `met` is called with each one as soon as it is there, and with whether it was
    trained just now.
    """
    every = {one.folder: one for job, _ in jobs for one in job.every}
    done, left = [], []
    with ExitStack() as held:
        ledgers = {
            folder: held.enter_context(opened_ledger(folder, PART, _about(one)))
            for folder, one in every.items()
        }
        check_interrupted = held.enter_context(noticed_interrupts())
        for recipe, seed in jobs:
            chain = [_kept(ledgers[one.folder], one, seed) for one in recipe.every]
            whole = [one for one in chain if one is not None and _has_file(one)]
            if len(whole) < len(chain):
                left.append((recipe, seed))
                continue
            for each in whole:
                done.append(each.trained)
                met(each.trained, False)
        for one in train_all(left, workers=workers, tell=tell) if left else ():
            check_interrupted()  # what was interrupted unnoticed is not kept
            found = _keep(ledgers[one.recipe.folder], one)
            done.append(found)
            met(found, True)
    return done


class _Kept(NamedTuple):
    """A finished training, and the digest of its policy's file."""

    trained: TrainedSeed
    digest: str


class _Content(NamedTuple):
    outcome: str
    returns: bytes
    final_return: float
    steps: int
    seconds: float
    fresh_steps: int
    digest: str


def _about(recipe: TrainingRecipe) -> dict[str, str]:
    """Return what is trained, on whatever machine: seeds may come from several."""
    return {key: text for key, text in recipe.identity if key not in MACHINE}


def _key(recipe: TrainingRecipe, seed: int) -> str:
    return key_of({**dict(recipe.identity), "seed": seed})


def _kept(ledger: Ledger, recipe: TrainingRecipe, seed: int) -> _Kept | None:
    content = ledger.done(_key(recipe, seed))
    if content is None:
        return None
    found = msgspec.msgpack.decode(content, type=_Content)
    one = TrainedSeed(
        recipe,
        seed,
        recipe.file(seed),
        Outcome(found.outcome),
        np.frombuffer(found.returns),
        found.final_return,
        found.steps,
        found.seconds,
        found.fresh_steps,
    )
    return _Kept(one, found.digest)


def _keep(ledger: Ledger, one: TrainedSeed) -> TrainedSeed:
    """Write a row; if only its file had to be made again, return what was there."""
    digest = _digest(one.file)
    before = _kept(ledger, one.recipe, one.seed)
    if before is not None and before.digest == digest:
        return before.trained
    content = _Content(
        one.outcome.value,
        one.returns.tobytes(),
        one.final_return,
        one.steps,
        one.seconds,
        one.fresh_steps,
        digest,
    )
    ledger.keep(_key(one.recipe, one.seed), msgspec.msgpack.encode(content))
    return one


def _has_file(kept: _Kept) -> bool:
    path = kept.trained.file
    return path.is_file() and _digest(path) == kept.digest


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
