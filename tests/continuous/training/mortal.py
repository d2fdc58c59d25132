"""A servo whose process dies when it is opened by a worker, as often as told.

DEATHS in the environment is a file with a line for every death, and how many there
shall be: `path:2`.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

from simgap.continuous.simulators.tasks.servo import SERVO

DEATHS = "SIMGAP_TEST_DEATHS"


def deaths(path: Path) -> int:
    """Return how many there have been."""
    return len(path.read_text().splitlines()) if path.exists() else 0


if multiprocessing.parent_process() is not None:
    name, _, wanted = os.environ[DEATHS].rpartition(":")
    if deaths(Path(name)) < int(wanted):
        with Path(name).open("a") as file:
            file.write("died\n")
        os._exit(3)

servo = SERVO
