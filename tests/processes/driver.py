"""A driver with workers, to be interrupted or killed.

    python -m tests.processes.driver FOLDER [impatient] [early]

It runs tasks that wait for the file `go` in FOLDER, and writes the number of each that
has ended to the file `ended`. An early one interrupts itself, and all of its session,
while its first worker starts.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.processes.tasks import Task, crew, note

TASKS = 50


def main() -> int:
    """Run; 130 if it was interrupted."""
    folder = Path(sys.argv[1])
    with crew(patient="impatient" not in sys.argv) as workers:
        try:
            for ended in workers.run(tasks(folder)):
                assert ended.failure is None
                note(folder / "ended", str(ended.result))
        except KeyboardInterrupt:
            return 130
    return 0


def tasks(folder: Path) -> Iterator[Task]:
    if "early" in sys.argv:
        threading.Timer(0.05, os.killpg, (os.getpgid(0), signal.SIGINT)).start()
    for number in range(TASKS):
        yield "numbered", (number, folder)


if __name__ == "__main__":
    sys.exit(main())
