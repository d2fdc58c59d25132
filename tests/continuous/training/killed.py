"""A small training in a process of its own, which may be told to kill itself.

    python -m tests.continuous.training.killed FOLDER SIMULATOR MEMORY MOMENT

MOMENT is `never`; `round:K`, at the end of round K; or `write:N:STAGE`, in the N-th
checkpoint of this process: `begin` before anything is written, `half` in the middle of
the file, `between` after the old one was put aside, `end` when the new one stands.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

os.environ["NPROC"] = os.environ.get("NPROC", "1")
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

from simgap.answers.train.train import training_recipe
from simgap.continuous.training import checkpoint, trainer
from simgap.continuous.training.seeds import _train
from simgap.continuous.training.trainer import News

SPECS = {"servo": "gain=0.5..1.5 sign={-1,1}", "puck": "angle=-3.1..3.1"}
ROUNDS = 8


def kill() -> None:
    """End this process as a crash would."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Train, and die where told."""
    folder, simulator, memory, moment = sys.argv[1:]
    what, *where = moment.split(":")
    trainer.EVERY = -1.0  # a checkpoint after every round
    settings: dict[str, Any] = {"rows": 8, "minibatches": 2, "epochs": 1, "units": 8}
    recipe = training_recipe(
        simulator,
        randomize=SPECS[simulator],
        memory=memory,
        horizon=20,
        steps=ROUNDS * 8 * 20,
        settings=settings,
        checked=False,
        out=folder,
    )
    if what == "write":
        _watch_writes(int(where[0]), where[1])

    def tell(name: str, news: News) -> None:
        if what == "round" and news.rounds == int(where[0]):
            kill()

    _train(recipe, [0], tell)


def _watch_writes(number: int, stage: str) -> None:
    file: Any = checkpoint
    path_type: Any = Path
    write, replace, save = file.write_sealed, Path.replace, file.Checkpoints.save
    count = 0

    def written(kind: Any, about: Any, arrays: Any, draft: Path) -> None:
        nonlocal count
        count += 1
        if count == number and stage == "begin":
            kill()
        write(kind, about, arrays, draft)
        if count == number and stage == "half":
            os.truncate(draft, draft.stat().st_size // 2)
            kill()

    def replaced(path: Path, target: Any) -> Path:
        found = replace(path, target)
        aside = str(target).endswith(checkpoint.BEFORE)
        if count == number and stage == "between" and aside:
            kill()
        return found

    def saved(self: Any, kept: Any) -> None:
        save(self, kept)
        if count == number and stage == "end":
            kill()

    file.write_sealed, file.Checkpoints.save = written, saved
    path_type.replace = replaced


if __name__ == "__main__":
    main()
