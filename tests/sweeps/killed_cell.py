"""A training cell in a process of its own, which may kill itself.

    python -m tests.sweeps.killed_cell PLAN FOLDER ROUND

It answers the first cell of a plan and writes what that came to, as a sweep does; with
ROUND above 0 it kills itself when so many rounds of the training are kept. It prints
how many rounds it kept.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from simgap.continuous import ONE_THREAD

os.environ.update(ONE_THREAD)

from simgap.continuous.training import checkpoint, trainer
from simgap.sweeps import read_plan
from simgap.sweeps.cells import answered


def main() -> None:
    """Answer a cell, and die where told."""
    plan, folder, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    changed: Any = trainer
    changed.EVERY = -1.0  # a checkpoint after every round
    kept: list[int] = []
    save = checkpoint.Checkpoints.save

    def saved(self: Any, what: Any) -> None:
        save(self, what)
        kept.append(what.rounds)
        if what.rounds == last:
            os.kill(os.getpid(), signal.SIGKILL)

    checkpoint.Checkpoints.save = saved  # type: ignore[method-assign, assignment]
    found = answered(next(read_plan(plan).cells()), folder / "unfinished")
    (folder / "numbers.json").write_bytes(found.numbers)
    (folder / "policy.onnx").write_bytes(found.files[".onnx"])
    sys.stdout.write(" ".join(map(str, kept)))


if __name__ == "__main__":
    main()
